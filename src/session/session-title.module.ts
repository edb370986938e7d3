import { ContainerModule } from 'inversify';
import { defineModule } from '../kernel/index.js';
import { SessionParticipant } from './session.js';
import { SessionTitleConfig } from './session-title-config.js';
import { SessionTitleParticipant } from './session-title-participant.js';

/** Contributes a `SessionParticipant` that gives each session a deterministic title. */
export const sessionTitleModule = defineModule({
  name: 'session-title',
  config: SessionTitleConfig,
  session: (config) =>
    new ContainerModule(({ bind }) => {
      bind(SessionParticipant).toResolvedValue(() => new SessionTitleParticipant(config));
    }),
});
