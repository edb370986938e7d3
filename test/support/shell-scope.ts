import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shellModule } from '../../src/tools/shell/shell.module.js';
import { processesWith } from './process-table.js';
import { ToolScope, textOf } from './tool-scope.js';

/** A session with the tool `bash`, in a workspace and a temporary directory of its own. */
export class ShellScope {
  readonly workspace: string;
  /** Where the shell makes its pipes. */
  readonly temporary: string;
  readonly #sessionId: string;
  readonly #root: string;
  readonly #outerTmpdir = process.env.TMPDIR;
  #tools!: ToolScope;

  private constructor(sessionId: string) {
    this.#root = realpathSync(mkdtempSync(join(tmpdir(), 'shell-test-')));
    this.#sessionId = sessionId;
    this.workspace = mkdtempSync(join(this.#root, 'w-'));
    this.temporary = mkdtempSync(join(this.#root, 'it\'s "t" '));
    process.env.TMPDIR = this.temporary;
  }

  static async open(config: object = {}, sessionId = `s-${randomUUID()}`): Promise<ShellScope> {
    const scope = new ShellScope(sessionId);
    const modules = [{ module: shellModule, config }];
    scope.#tools = await ToolScope.open({ modules, sessionId, cwd: scope.workspace });
    return scope;
  }

  get tools(): ToolScope {
    return this.#tools;
  }

  /** The model's view of a command; fails when it is an error. */
  async run(command: string, signal?: AbortSignal): Promise<string> {
    const outcome = await this.#tools.call('bash', { command }, signal);
    if (outcome.isError) throw new Error(textOf(outcome));
    return textOf(outcome);
  }

  /** What the shell has running, itself included. */
  processes(): readonly number[] {
    return processesWith(`DSH_SESSION_ID=${this.#sessionId}\0`);
  }

  leftovers(): readonly string[] {
    return readdirSync(this.temporary);
  }

  /** Closes the session, and removes the directories. */
  async close(): Promise<void> {
    await this.#tools.close();
    if (this.#outerTmpdir === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = this.#outerTmpdir;
    rmSync(this.#root, { recursive: true, force: true });
  }
}
