import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { escapeReferences } from '../base/index.js';
import type { HarnessClientOptions } from './options.js';

/**
 * A patch file that says what the options ask for, for its owner only, in a directory of its own: nothing of it is in a
 * command line. Whoever made it removes it.
 */
export class TemporaryPatch {
  readonly path: string;
  readonly #directory: string;

  private constructor(operations: readonly object[]) {
    this.#directory = mkdtempSync(join(tmpdir(), 'dsh-patch-'));
    this.path = join(this.#directory, 'patch.yml');
    // JSON is YAML, too.
    writeFileSync(this.path, `${JSON.stringify(operations)}\n`, { mode: 0o600, flag: 'wx' });
  }

  /** Undefined when the options ask for nothing that takes a patch. */
  static of({ systemPrompt, tools }: HarnessClientOptions): TemporaryPatch | undefined {
    const operations = [
      ...(systemPrompt === undefined
        ? []
        : [{ id: 'system-prompt', merge: { personaPrefix: escapeReferences(systemPrompt) } }]),
      ...(tools === undefined
        ? []
        : [{ id: 'tools', merge: { ...listed('allow', tools.allow), ...listed('deny', tools.deny) } }]),
    ];
    return operations.length === 0 ? undefined : new TemporaryPatch(operations);
  }

  /** Idempotent; never throws. */
  remove(): void {
    try {
      rmSync(this.#directory, { recursive: true, force: true });
    } catch {
      // What cannot be removed is in the system's directory for such files, and unreadable for others.
    }
  }
}

function listed(key: string, names: readonly string[] | undefined): object {
  return names === undefined ? {} : { [key]: names.map(escapeReferences) };
}
