import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const PACKAGES = ['exact-json', 'linear-text', 'json-schema', 'sql-reader'];
const page = readFileSync(path.join(ROOT, 'docs', 'architecture.md'), 'utf8');
/** The section with recorded walks, and the one behind it. */
const RECORDED = '## What an evaluation passes';
const BEHIND_RECORDED = '## What other calls pass';

/** Names in backquotes that the lines of a list begin with. */
function listed(section: string): string[] {
  return [...section.matchAll(/^- `([^`]+)`/gm)].map(([, name = '']) => name);
}

function withoutRecorded(text: string): string {
  return text.slice(0, text.indexOf(RECORDED)) + text.slice(text.indexOf(BEHIND_RECORDED));
}

/** Every source file with the files that it imports, types included, as paths below the repository. */
function importsOfSources(): Map<string, readonly string[]> {
  const folders = ['src', ...PACKAGES.map((name) => path.join('packages', name, 'src'))];
  const files = folders.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.m?ts$|\.mjs$/.test(name))
      .map((name) => path.join(folder, name)),
  );
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const text = readFileSync(path.join(ROOT, file), 'utf8');
      const targets = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, target = '']) =>
        path.join(path.dirname(file), target).replace(/\.js$/, '.ts'),
      );
      return [file, targets.filter((target) => known.has(target))];
    }),
  );
}

const imports = importsOfSources();
const layers = listed(page.slice(page.indexOf('## Folders'), page.indexOf(RECORDED)));

/** The folder of a file as the page lists it; undefined for the entry point, which may import everything. */
function layerOf(file: string): string | undefined {
  const [root, first = '', second = '', ...rest] = file.split(path.sep);
  if (root === 'packages') return `packages/${first}`;
  if (second === '') return undefined;
  return first === 'transport' && rest.length > 0 ? `${first}/${second}` : first;
}

describe('the folders of the architecture page', () => {
  it('are the folders of the sources', () => {
    const folders = new Set([...imports.keys()].map(layerOf).filter((layer) => layer !== undefined));
    expect([...folders].sort()).toEqual([...layers].sort());
  });

  it('import folders above them in the list only', () => {
    const wrong = [...imports].flatMap(([file, targets]) => {
      const layer = layerOf(file);
      if (layer === undefined) return [];
      return targets
        .filter((target) => layers.indexOf(layerOf(target) ?? 'main') > layers.indexOf(layer))
        .map((target) => `${file} imports ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it('are free of circles between files', () => {
    const done = new Set<string>();
    const visit = (file: string, way: readonly string[]): void => {
      if (way.includes(file)) throw new Error(`circle: ${[...way, file].join(' -> ')}`);
      if (done.has(file)) return;
      for (const target of imports.get(file) ?? []) visit(target, [...way, file]);
      done.add(file);
    };
    for (const file of imports.keys()) visit(file, []);
    expect(done.size).toBe(imports.size);
  });
});

/** Walks that are chosen by hand; those of evaluations are recorded, see `test/walks`. */
const walks = [...withoutRecorded(page).matchAll(/^#{2,3} (.+)\n([^#]*)/gm)]
  .map(([, title = '', text = '']) => ({
    title,
    files: listed(text).filter((name) => name.startsWith('src/')),
  }))
  .filter(({ files }) => files.length > 0);

describe.each(walks)('the walk $title', ({ files }) => {
  it('goes from import to import', () => {
    for (const [index, file] of files.entries()) {
      expect(imports.has(file), file).toBe(true);
      const next = files[index + 1];
      if (next === undefined) continue;
      const isConnected =
        imports.get(file)?.includes(next) === true || imports.get(next)?.includes(file) === true;
      expect(isConnected, `${file} and ${next}`).toBe(true);
    }
  });

  it('enters no folder twice', () => {
    const folders = files.map((file) => path.dirname(file));
    const entered = folders.filter((folder, index) => folder !== folders[index - 1]);
    expect(entered).toEqual([...new Set(entered)]);
  });
});

it('the page has a walk for what the lane leaves to Connect, for changes, events and large steps', () => {
  expect(walks.length).toBe(4);
});
