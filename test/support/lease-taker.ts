import { createInterface } from 'node:readline';
import { errorCode } from '../../src/base/index.js';
import { SessionLeases } from '../../src/session/files/session-lease.js';
import { RecordingLogger } from './recording-logger.js';

/** Takes the lease for each line on stdin, and keeps it; answers with a line on stdout. */
const [, , path = ''] = process.argv;

function take(): string {
  try {
    new SessionLeases(new RecordingLogger()).take(path, 's');
    return 'held';
  } catch (thrown) {
    return errorCode(thrown) ?? String(thrown);
  }
}

process.stdout.write('ready\n');
createInterface(process.stdin).on('line', () => process.stdout.write(`${take()}\n`));
