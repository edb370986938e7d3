/** Where in a session something happens; both count from 1. */
export interface StepPosition {
  readonly turn: number;
  readonly step: number;
}
