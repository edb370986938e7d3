import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Document, YAMLMap, YAMLSeq } from 'yaml';
import { CodedError, describeError, errorCode } from '../../base/index.js';

/** A row that a patch inserts. */
export interface InsertedRow {
  readonly id: string;
  readonly module: string;
}

/** The rows that a patch file inserts, changed in place: comments, order and what else it says stay as they are. */
export class PluginRows {
  private constructor(
    private readonly file: string,
    private readonly document: Document,
    private readonly yaml: typeof import('yaml'),
  ) {}

  /** @throws CodedError `INVALID_PATCH`: the file is no list in YAML */
  static async open(file: string): Promise<PluginRows> {
    const [{ default: yaml }, text] = await Promise.all([import('yaml'), readOptional(file)]);
    const document = yaml.parseDocument(text);
    const [error] = document.errors;
    if (error !== undefined) throw new CodedError('INVALID_PATCH', `${file}: ${describeError(error)}`);
    if (document.contents === null) document.contents = new yaml.YAMLSeq() as never;
    if (!yaml.isSeq(document.contents)) throw new CodedError('INVALID_PATCH', `${file}: a patch must be a list`);
    return new PluginRows(file, document, yaml);
  }

  /** Rows in the order in which they are inserted. */
  list(): readonly InsertedRow[] {
    return this.#lists().flatMap((list) => list.items.flatMap((item) => this.#row(item) ?? []));
  }

  /** Inserts a row at the end. */
  add(row: InsertedRow): void {
    const operation = this.document.createNode({ insert: [row] });
    for (const item of (operation.get('insert') as YAMLSeq).items as YAMLMap[]) item.flow = true;
    this.#operations.add(operation);
  }

  /** Takes out the rows of a module, and operations that insert nothing any more. */
  remove(module: string): void {
    for (const list of this.#lists()) list.items = list.items.filter((item) => this.#row(item)?.module !== module);
    this.#operations.items = this.#operations.items.filter((item) => this.#insertList(item)?.items.length !== 0);
  }

  /** Writes the file, whole or not at all. */
  async save(): Promise<void> {
    const temporary = `${this.file}.${process.pid}.tmp`;
    await writeFile(temporary, this.document.toString({ lineWidth: 0 }));
    await rename(temporary, this.file);
  }

  get #operations(): YAMLSeq {
    return this.document.contents as YAMLSeq;
  }

  #lists(): readonly YAMLSeq[] {
    return this.#operations.items.flatMap((item) => this.#insertList(item) ?? []);
  }

  #insertList(operation: unknown): YAMLSeq | undefined {
    if (!this.yaml.isMap(operation)) return undefined;
    const list = operation.get('insert');
    return this.yaml.isSeq(list) ? list : undefined;
  }

  #row(node: unknown): InsertedRow | undefined {
    if (!this.yaml.isMap(node)) return undefined;
    return { id: String(node.get('id')), module: String(node.get('module')) };
  }
}

async function readOptional(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return '';
    throw thrown;
  }
}
