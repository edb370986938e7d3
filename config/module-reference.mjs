// Writes docs/modules.md from the built modules: `npm run docs`. With --check it only tells whether the file is current.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { getClassMetadata } from '@inversifyjs/core';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const load = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { catalog } = await load('profile/catalog.js');
const { isContributionPoint, tokenName } = await load('kernel/index.js');

/** For modules that want something said. */
const SAMPLES = {
  'llm-openai-compatible': { provider: 'local', baseURL: 'http://127.0.0.1:11434/v1' },
  'session-persistence-jsonl': { root: '/' },
  'attachment-local': { root: '/' },
};
/** What the host and each session's scope bring; of no interest in a list of what a module needs. */
const GIVEN = new Set(['Scope', 'Logger', 'Environment']);

/** What a part of a module binds, and what the classes and functions behind it are injected with. */
async function partOf(module) {
  const bound = new Set();
  const injected = new Set();
  if (module === undefined) return { bound, injected };
  const bind = (id) => {
    bound.add(id);
    const fluent = new Proxy(() => undefined, {
      get: (_, key) => {
        if (key === 'then') return undefined;
        return (first, dependencies = []) => {
          if (key === 'to') for (const token of tokensOf(first)) injected.add(token);
          if (key === 'toSelf') for (const token of tokensOf(id)) injected.add(token);
          if (key === 'toResolvedValue') for (const one of dependencies) injected.add(one.serviceIdentifier ?? one);
          return fluent;
        };
      },
    });
    return fluent;
  };
  await module.load({ bind, rebind: bind, isBound: () => false, onActivation() {}, onDeactivation() {}, unbind() {} });
  return { bound, injected };
}

function tokensOf(type) {
  const metadata = getClassMetadata(type);
  return metadata.constructorArguments.map(({ value }) => value?.unwrap?.() ?? value);
}

const isPublic = (token) => typeof token === 'symbol' && Symbol.keyFor(token) !== undefined;
const names = (tokens) =>
  [...new Set([...tokens].filter(isPublic).map(tokenName))].filter((name) => !GIVEN.has(name)).sort();
const listed = (items) => items.map((item) => `\`${item}\``).join(', ');

async function sectionOf(definition) {
  const { runtime, session } = await definition.configure(SAMPLES[definition.name] ?? {});
  const parts = await Promise.all([partOf(runtime), partOf(session)]);
  const bound = parts.flatMap((part) => [...part.bound]);
  const injected = parts.flatMap((part) => [...part.injected]);
  const own = new Set(names(bound));
  const facts = [
    [
      'Provides',
      names(parts[0].bound.size > 0 ? [...parts[0].bound].filter((token) => !isContributionPoint(token)) : []),
    ],
    ['Provides in each session', names([...parts[1].bound].filter((token) => !isContributionPoint(token)))],
    ['Contributes', names(bound.filter(isContributionPoint))],
    ['Consumes', names(injected.filter((token) => !isContributionPoint(token))).filter((name) => !own.has(name))],
    ['Collects', names(injected.filter(isContributionPoint))],
  ];
  const lines = facts.flatMap(([what, items]) => (items.length === 0 ? [] : [`- ${what}: ${listed(items)}`]));
  return [
    `## ${definition.name}`,
    '',
    ...lines,
    ...(lines.length === 0 ? [] : ['']),
    ...tableOf(definition.configKeys()),
  ].join('\n');
}

function tableOf(keys) {
  if (keys.length === 0) return ['Takes no config.', ''];
  const rows = keys.map(({ name, type, required, description, ...rest }) => {
    const standard = 'default' in rest ? shown(rest.default) : required ? 'required' : '–';
    return `| \`${name}\` | ${cell(type)} | ${cell(standard)} | ${cell(description)} |`;
  });
  return ['| key | type | default | meaning |', '|---|---|---|---|', ...rows, ''];
}

function shown(value) {
  const text = JSON.stringify(value);
  return text.length > 80 ? 'built in' : `\`${text}\``;
}

function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

const intro = `# Modules

<!-- Made by \`npm run docs\` from the code; changes belong there. -->

What a row of a profile can name, with the keys of its \`config\`. Services are what one module provides and others
consume; contribution points collect what any number of modules contribute. Who writes a plugin finds them under the same
names in \`dsh-inversify/plugin\`: [plugins.md](plugins.md).
`;
const sections = [];
for (const name of [...catalog.keys()].sort()) sections.push(await sectionOf(catalog.get(name)));
const text = `${intro}\n${sections.join('\n').trimEnd()}\n`;
const file = join(root, 'docs', 'modules.md');
if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (readFileSync(file, 'utf8') !== text) {
  process.stderr.write('docs/modules.md is not what the code says: npm run build && npm run docs\n');
  process.exitCode = 1;
}
