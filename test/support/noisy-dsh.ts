import { guardStdout } from '../../src/host/stdout-guard.js';

/** `dsh` with a noisy module among the first that it loads, as a banner-printing dependency would be. */
const stdout = guardStdout();
await import('./noisy.js');
const { main } = await import('../../src/cli/main.js');
void main(process.argv.slice(2), stdout);
