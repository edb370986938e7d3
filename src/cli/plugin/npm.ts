import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { CodedError, errorCode } from '../../base/index.js';

/**
 * Runs npm in `directory`; what it prints goes where this process prints.
 *
 * @returns its exit status; 128 and the signal's number when a signal ended it
 * @throws CodedError `NPM_NOT_FOUND`: there is none on PATH
 */
export function npm(directory: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    // npm is a script on Windows, which only a shell can run.
    const child = spawn('npm', args, { cwd: directory, stdio: 'inherit', shell: process.platform === 'win32' });
    child.on('error', (thrown) => {
      const isMissing = errorCode(thrown) === 'ENOENT';
      const advice = 'npm is not on PATH; it comes with Node.js: install it, or add its directory to PATH';
      reject(isMissing ? new CodedError('NPM_NOT_FOUND', advice) : thrown);
    });
    child.on('close', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
