import { dirname, resolve } from 'node:path';
import type { Node, Pair, Scalar, YAMLMap } from 'yaml';
import { maskConfig } from './mask-config.js';
import type { Profile, Row } from './profile.js';
import { RowHistory } from './row-history.js';

/**
 * The composed profile as one YAML document that can be loaded back: expressions stand as they are, each run of rows of
 * one origin follows a comment `# == <origin>, patched by <layer>`, and each value that a patch set says so behind it.
 * Credentials are hidden (runtime §1.11).
 *
 * @param remarks what else is to be said of a row, by id
 */
export async function dumpProfile(
  { name, rows, history }: Profile,
  remarks: ReadonlyMap<string, readonly string[]> = new Map(),
): Promise<string> {
  const { default: yaml } = await import('yaml');
  let heading = '';
  const parts = rows.map((row) => {
    const past = history?.get(row.id) ?? new RowHistory(name);
    const patched = past.patchedBy.length === 0 ? '' : `, patched by ${past.patchedBy.map(oneLine).join(', ')}`;
    const above = `# == ${oneLine(past.origin)}${patched}\n`;
    const isNew = above !== heading;
    heading = above;
    const document = new yaml.Document([shown(row)]);
    annotate(yaml, document.get(0) as YAMLMap, '', past, past.origin);
    const said = (remarks.get(row.id) ?? []).map((remark) => `# ${oneLine(remark)}\n`).join('');
    return `${isNew ? above : ''}${said}${document.toString({ lineWidth: 0 })}`;
  });
  return parts.length === 0 ? `# == ${name}\n[]\n` : parts.join('');
}

/** A path means the same wherever the dump is loaded from. */
function shown({ id, module, config, disabled, optional, from }: Row): object {
  const isRelative = from !== undefined && /^\.{1,2}[\\/]/.test(module);
  return {
    id,
    module: isRelative ? resolve(dirname(from), module) : module,
    ...(config !== undefined && { config: maskConfig(config) }),
    ...(disabled !== undefined && { disabled }),
    ...(optional !== undefined && { optional }),
  };
}

function annotate(yaml: typeof import('yaml'), map: YAMLMap, path: string, history: RowHistory, above: string): void {
  for (const pair of map.items as Pair<Scalar<string>, Node | null>[]) {
    const at = path === '' ? pair.key.value : `${path}.${pair.key.value}`;
    const source = history.sourceOf(at);
    const { value } = pair;
    if (source !== above) {
      if (value !== null && !yaml.isCollection(value)) value.comment = ` from ${oneLine(source)}`;
      else pair.key.commentBefore = ` from ${oneLine(source)}`;
    }
    if (yaml.isMap(value)) annotate(yaml, value, at, history, source);
  }
}

/** A label as a comment can hold it. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
}
