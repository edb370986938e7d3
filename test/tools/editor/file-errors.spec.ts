import { expect } from 'chai';
import { FileError } from '../../../src/tools/editor/file-errors.js';

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: from the system`), { code, errno: -1, syscall: 'open' });
}

describe('FileError.of', () => {
  for (const [code, expected] of [
    ['ENOENT', 'FS_NOT_FOUND'],
    ['ENOTDIR', 'FS_NOT_DIRECTORY'],
    ['EACCES', 'FS_PERMISSION_DENIED'],
    ['EPERM', 'FS_PERMISSION_DENIED'],
    ['EROFS', 'FS_PERMISSION_DENIED'],
    ['ENOSPC', 'FS_IO_ERROR'],
    ['ELOOP', 'FS_IO_ERROR'],
  ] as const) {
    it(`makes ${expected} of ${code}, and names the path`, () => {
      const thrown = systemError(code);
      const error = FileError.of(thrown, '/a/b');
      expect(error).to.be.instanceOf(FileError).and.include({ code: expected, cause: thrown });
      expect(error.message).to.contain('/a/b');
    });
  }

  it('leaves other errors alone', () => {
    for (const error of [new Error('bug'), FileError.notText('/a', 'why'), new DOMException('stop', 'AbortError')]) {
      expect(FileError.of(error, '/b')).to.equal(error);
    }
  });
});
