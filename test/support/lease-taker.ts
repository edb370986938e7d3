import { createInterface } from 'node:readline';
import { errorCode } from '../../src/base/index.js';
import { type SessionLease, SessionLeases } from '../../src/session/session-lease.js';
import { RecordingLogger } from './recording-logger.js';

/** Told so on stdin, takes the lease, or looks whether it still holds it; answers with a line on stdout. */
const [, , path = ''] = process.argv;
let lease: SessionLease | undefined;

function obey(command: string): string {
  try {
    if (command === 'take') lease = new SessionLeases(new RecordingLogger()).take(path, 's');
    else lease?.assertHeld();
    return lease === undefined ? 'nothing' : 'held';
  } catch (thrown) {
    return errorCode(thrown) ?? String(thrown);
  }
}

process.stdout.write('ready\n');
createInterface(process.stdin).on('line', (command) => process.stdout.write(`${obey(command)}\n`));
