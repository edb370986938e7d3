/** How many cases a property is tried with: `FC_RUNS`, else `usual`. */
export function runs(usual: number): { readonly numRuns: number } {
  return { numRuns: Number(process.env.FC_RUNS ?? usual) };
}
