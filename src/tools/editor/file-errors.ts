import { CodedError, errorCode, toError } from '../../base/index.js';

/** A file that cannot be used as asked; codes of runtime §3.5. */
export class FileError extends CodedError {
  override readonly name = 'FileError';

  /** Without a code of its own in the specification. */
  static exists(path: string): Error {
    return new Error(`${path} exists already: change it with str_replace or insert, or choose another path`);
  }
  /** Where the system has no place for it: in `/proc`, behind a broken link. */
  static notMade(path: string, cause: unknown): FileError {
    return new FileError('FS_NOT_FOUND', `${path} cannot be made there: ${toError(cause).message}`, { cause });
  }
  static notRegular(path: string, what: string): FileError {
    return new FileError('FS_NOT_REGULAR_FILE', `${path} is ${what}, not a regular file`);
  }
  static notText(path: string, why: string): FileError {
    return new FileError('FS_NOT_TEXT', `${path} is not a UTF-8 text file: ${why}`);
  }
  static tooLarge(path: string, bytes: number, limit: number): FileError {
    return new FileError('FS_TOO_LARGE', `${path} has ${bytes} bytes, more than the ${limit} that can be edited here`);
  }
  static editNotFound(path: string, hint: string): FileError {
    return new FileError('FS_EDIT_NOT_FOUND', `old_str does not occur in ${path}${hint}`);
  }
  static ambiguousEdit(path: string, where: string): FileError {
    return new FileError('FS_AMBIGUOUS_EDIT', `old_str occurs more than once in ${path}, ${where}: add context to it`);
  }

  /** A system error as one of ours; anything else as it is. */
  static of(thrown: unknown, path: string): Error {
    const error = toError(thrown);
    if (error instanceof CodedError || (error as NodeJS.ErrnoException).syscall === undefined) return error;
    const options = { cause: error };
    switch (errorCode(error)) {
      case 'ENOENT':
        return new FileError('FS_NOT_FOUND', `${path} does not exist`, options);
      case 'ENOTDIR':
        return new FileError('FS_NOT_DIRECTORY', `a part of ${path} is not a directory`, options);
      case 'EACCES':
      case 'EPERM':
      case 'EROFS':
        return new FileError('FS_PERMISSION_DENIED', `no permission for ${path}: ${error.message}`, options);
      default:
        return new FileError('FS_IO_ERROR', `${path}: ${error.message}`, options);
    }
  }
}
