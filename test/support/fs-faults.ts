import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { restore, type SinonStub, stub } from 'sinon';

type FsFunction = 'closeSync' | 'fsync' | 'ftruncateSync' | 'linkSync' | 'unlinkSync' | 'writeSync';

export interface FsFaults {
  /** Replaces a call, for named imports as well; `behave` is given the real one. */
  inject<K extends FsFunction>(name: K, behave: (real: (typeof fs)[K]) => unknown): SinonStub;
  /** Makes the file system whole again. */
  heal(): void;
}

/** Lets tests of the surrounding suite put faults into the file system calls that the code under test makes. */
export function useFsFaults(): FsFaults {
  const heal = (): void => {
    restore();
    syncBuiltinESMExports();
  };
  afterEach(heal);
  return {
    heal,
    inject(name, behave) {
      const fake = behave(fs[name]) as (...args: unknown[]) => unknown;
      const injected = stub(fs, name as 'closeSync').callsFake(fake as never) as unknown as SinonStub;
      syncBuiltinESMExports();
      return injected;
    },
  };
}

export function fsError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: injected`), { code });
}
