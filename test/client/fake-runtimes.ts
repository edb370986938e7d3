import type { LaunchCommand } from '../../src/client/index.js';
import { type FakeRuntime, type FakeScript, fakeRuntime } from '../support/fake-runtime-script.js';

interface Closable {
  close(): Promise<void>;
}

/**
 * Launches fake runtimes for the tests of the surrounding suite; after each, its clients are closed and what its
 * runtimes recorded is removed.
 *
 * @param make a client that starts what it is given
 */
export function useFakeRuntimes<C extends Closable, O>(
  make: (launch: LaunchCommand, options: O | undefined) => C,
): (script: FakeScript, options?: O) => { client: C; runtime: FakeRuntime } {
  const open: { client: C; runtime: FakeRuntime }[] = [];
  afterEach(async () => {
    for (const { client, runtime } of open.splice(0)) {
      await client.close();
      runtime.remove();
    }
  });
  return (script, options) => {
    const runtime = fakeRuntime(script);
    const launched = { client: make(runtime.launch, options), runtime };
    open.push(launched);
    return launched;
  };
}
