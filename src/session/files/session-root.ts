import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CodedError, errorCode, toError } from '../../base/index.js';
import type { SessionHeader } from '../repository.js';
import { corrupt } from '../stored-log.js';
import { projectDirectoryName, sessionDirectoryName } from './session-path.js';
import { SessionPlace } from './session-place.js';

/** The directory of all sessions, `<root>/<project>/<session>/` (core §4.1). It need not exist. */
export class SessionRoot {
  readonly path: string;

  constructor(root: string) {
    this.path = resolve(root);
  }

  /** Where a session that is new shall be stored. */
  placeFor({ id, cwd }: SessionHeader): SessionPlace {
    return SessionPlace.in(join(this.path, projectDirectoryName(cwd), sessionDirectoryName(id)));
  }

  /**
   * Where the session is stored, whichever workspace it was made in; undefined when it is not.
   *
   * @throws CodedError `STORE_FAILED`; `SESSION_CORRUPT` it is stored in two places
   */
  async find(id: string): Promise<SessionPlace | undefined> {
    const [place, second] = await this.findAll(id);
    if (place === undefined || second === undefined) return place;
    throw corrupt(place.path, `session ${JSON.stringify(id)} is stored a second time, in ${second.path}`);
  }

  /** Every place that holds the session; more than one is an error of somebody's. */
  async findAll(id: string): Promise<readonly SessionPlace[]> {
    const name = sessionDirectoryName(id);
    const places = (await this.projects()).map((project) => SessionPlace.in(join(project, name)));
    const files = await Promise.all(places.map((place) => place.storedFiles()));
    return places.filter((_, index) => files[index]?.length !== 0);
  }

  /** Every place that holds a session, or whose content cannot be seen, in the order of the directories. */
  async all(): Promise<readonly SessionPlace[]> {
    const found = await Promise.all((await this.projects()).map(placesIn));
    return found.flat();
  }

  /** @throws CodedError `STORE_FAILED` the root exists and cannot be used */
  async projects(): Promise<readonly string[]> {
    try {
      const entries = await readdir(this.path, { withFileTypes: true });
      return entries.flatMap((entry) => (entry.isFile() ? [] : join(this.path, entry.name)));
    } catch (thrown) {
      const code = errorCode(thrown);
      if (code === 'ENOENT') return [];
      const problem = code === 'ENOTDIR' ? 'is not a directory' : `cannot be read: ${toError(thrown).message}`;
      throw new CodedError('STORE_FAILED', `session root ${this.path} ${problem}`, { cause: thrown });
    }
  }
}

async function placesIn(project: string): Promise<readonly SessionPlace[]> {
  try {
    const places = (await readdir(project)).sort().map((name) => SessionPlace.in(join(project, name)));
    const found = await Promise.all(places.map((place) => place.storedFiles().catch(() => undefined)));
    return places.filter((_, index) => found[index]?.length !== 0);
  } catch (thrown) {
    // It stands for the sessions that may be in it: reading it says what is wrong.
    return errorCode(thrown) === 'ENOENT' ? [] : [SessionPlace.in(project)];
  }
}
