import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const ENGINES = [
  'exact-json',
  'documents',
  'linear-text',
  'cel',
  'json-schema',
  'shell-reader',
  'sql-reader',
];
const AROUND_SINKS = ['supervised-worker', 'versioned-files', 's3-files', 'parquet-log', 'kafka-producer'];
const OPTIONAL = ['detectors', 'adapters', 'events-clickhouse', 'memory-redis'];
const PACKAGES = [...ENGINES, ...AROUND_SINKS, 'clickhouse-tables', ...OPTIONAL];
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

/** The files of folders with the files of them that each imports, types included, as paths below the repository. */
function importsIn(...folders: readonly string[]): Map<string, readonly string[]> {
  const files = folders.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.[cm]?[jt]sx?$/.test(name))
      .map((name) => path.join(folder, name)),
  );
  const known = new Set(files);
  const named = (file: string) => [file, file.replace(/\.js$/, '.ts'), file.replace(/\.js$/, '.tsx')];
  return new Map(
    files.map((file) => {
      const targets = importedBy(file)
        .filter((name) => name.startsWith('.'))
        .flatMap((name) => named(path.join(path.dirname(file), name)));
      return [file, targets.filter((target) => known.has(target))];
    }),
  );
}

/** What the imports of a file name: paths and packages. */
function importedBy(file: string): string[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return [...text.matchAll(/(?:from|import|import\()\s*'([^']+)'/g)].map(([, name = '']) => name);
}

const imports = importsIn('src', ...PACKAGES.map((name) => path.join('packages', name, 'src')));
const dashboardImports = importsIn(path.join('packages', 'dashboard', 'src'));
const rooms = page.slice(page.indexOf('## Districts and rooms'), page.indexOf(RECORDED));
/** Packages that are parts of the service, with their budgets, and the room behind which each stands. */
const optional = [
  ...rooms.matchAll(/^- `(packages\/[a-z-]+)` \(at most ([\d,]+) lines\): behind `([^`]+)`/gm),
].map(([, name = '', budget = '', room = '']) => ({ name, budget: numberOf(budget), room }));
const layers = inOrder(listed(rooms));
/** Lines of the sources that a budget may be above them. */
const SPARE_LINES = 300;

function numberOf(printed: string): number {
  return Number(printed.replaceAll(',', ''));
}

/** The rooms with each part of the service behind its room. */
function inOrder(names: readonly string[]): string[] {
  return names
    .filter((name) => optional.every((part) => part.name !== name))
    .flatMap((name) => [name, ...optional.filter(({ room }) => room === name).map((part) => part.name)]);
}

const linesOf = (file: string) => readFileSync(path.join(ROOT, file), 'utf8').split('\n').length - 1;

function expectBudget(name: string, folder: string, budget: number): void {
  const files = [...imports.keys()].filter((file) => file.startsWith(folder + path.sep));
  const lines = files.reduce((sum, file) => sum + linesOf(file), 0);
  expect(lines, `remove lines, or raise the budget of ${name} with a reason`).toBeLessThanOrEqual(budget);
  expect(lines, `lower the budget of ${name}`).toBeGreaterThan(budget - SPARE_LINES);
}

/** The room of a file as the page lists it; undefined for the entry point, which may import everything. */
function layerOf(file: string): string | undefined {
  const [root, first = '', second = '', ...rest] = file.split(path.sep);
  if (root === 'packages') return `packages/${first}`;
  if (second === '') return undefined;
  return rest.length === 0 ? first : `${first}/${second}`;
}

describe('the districts of the architecture page', () => {
  const districts = [...rooms.matchAll(/^### ([a-z]+): at most ([\d,]+) lines\n\n([^#]*?)\n\n- /gm)].map(
    ([, name = '', budget = '', paragraph = '']) => ({
      name,
      budget: numberOf(budget),
      face: [...paragraph.matchAll(/`([^`]+\.ts)`/g)].map(([, file = '']) => path.join('src', file)),
    }),
  );
  const folders = readdirSync(path.join(ROOT, 'src'), { withFileTypes: true });

  it('are the folders of the sources, beside the entry point', () => {
    const names = folders.filter((one) => one.isDirectory()).map(({ name }) => name);
    expect(districts.map(({ name }) => name).sort()).toEqual(names.sort());
    expect(folders.filter((one) => !one.isDirectory()).map(({ name }) => name)).toEqual(['main.ts']);
  });

  it('begin where the rooms of the one before end', () => {
    const named = layers
      .filter((layer) => !layer.startsWith('packages/'))
      .map((layer) => layer.split('/')[0]);
    expect(named.filter((name, index) => name !== named[index - 1])).toEqual(
      districts.map(({ name }) => name),
    );
  });

  it.each(districts)('$name has at most $budget lines, and not much less', ({ name, budget }) => {
    expectBudget(name, path.join('src', name), budget);
  });

  it.each(districts)('$name names where to begin', ({ name, face }) => {
    expect(face.length).toBeGreaterThan(2);
    const own = path.join('src', name) + path.sep;
    const isUsed = (file: string) =>
      [...imports].some(([from, targets]) => !from.startsWith(own) && targets.includes(file));
    const wrong = face.filter((file) => !file.startsWith(own) || (name !== 'app' && !isUsed(file)));
    expect(wrong, 'files that are no part of it, or that no other district imports').toEqual([]);
  });
});

describe('the packages that the service can run without', () => {
  it('stand behind a room', () => {
    expect(optional.filter(({ name }) => !layers.includes(name))).toEqual([]);
  });

  it.each(optional)('$name has at most $budget lines, and not much less', ({ name, budget }) => {
    expectBudget(name, path.join(name, 'src'), budget);
  });

  it.each(optional)('$name is loaded by the service where it is installed', ({ name }) => {
    const own = path.join(name, 'src') + path.sep;
    const wrong = [...imports].flatMap(([file, targets]) => {
      const used = targets.filter((target) => target.startsWith(own));
      if (!file.startsWith('src') || used.length === 0) return [];
      const text = readFileSync(path.join(ROOT, file), 'utf8');
      const isWhole =
        text.split(name).length === text.split(`import('../../../${name}/src/index.js')`).length;
      return isWhole && text.includes('loadOptionalPackage') ? [] : [file];
    });
    expect(wrong, 'files that import it otherwise than loadOptionalPackage does').toEqual([]);
  });
});

describe('the rooms of the architecture page', () => {
  it('are the folders of the districts', () => {
    const folders = new Set([...imports.keys()].map(layerOf).filter((layer) => layer !== undefined));
    expect([...folders].sort()).toEqual([...layers].sort());
  });

  it('import rooms above them in the list only', () => {
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

it('the dependencies of packages are where the service finds them, which is compiled with the packages', () => {
  // npm puts a second version of a dependency into the folder of the package, which is not above `dist`.
  const { packages } = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'));
  const folders = PACKAGES.map((name) => `packages/${name}/node_modules/`);
  expect(Object.keys(packages).filter((name) => folders.some((folder) => name.startsWith(folder)))).toEqual(
    [],
  );
});

/** A folder with what is directly in it: its subfolders, and its files as one part. */
type Parts = ReadonlyMap<string, ReadonlySet<string>>;

/** For each folder the parts that its parts import; `.` stands for the files beside the subfolders. */
function partsOfFolders(files: ReadonlyMap<string, readonly string[]>): Map<string, Parts> {
  const folders = new Map<string, Map<string, Set<string>>>();
  for (const [file, targets] of files) {
    for (let folder = path.dirname(file); folder !== '.'; folder = path.dirname(folder)) {
      for (const target of targets) {
        if (!target.startsWith(folder + path.sep)) continue;
        const [from, to] = [partOf(folder, file), partOf(folder, target)];
        if (from === to) continue;
        const parts = folders.get(folder) ?? new Map<string, Set<string>>();
        folders.set(folder, parts.set(from, (parts.get(from) ?? new Set()).add(to)));
      }
    }
  }
  return folders;
}

function partOf(folder: string, file: string): string {
  const [first = '', second] = path.relative(folder, file).split(path.sep);
  return second === undefined ? '.' : first;
}

/** A circle of parts; undefined if there is none. */
function circleOf(parts: Parts): string | undefined {
  const done = new Set<string>();
  const visit = (part: string, way: readonly string[]): string | undefined => {
    if (way.includes(part)) return [...way.slice(way.indexOf(part)), part].join(' -> ');
    if (done.has(part)) return undefined;
    done.add(part);
    for (const next of parts.get(part) ?? []) {
      const circle = visit(next, [...way, part]);
      if (circle !== undefined) return circle;
    }
    return undefined;
  };
  for (const part of parts.keys()) {
    const circle = visit(part, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

describe('the parts of a folder', () => {
  const circles = (files: ReadonlyMap<string, readonly string[]>) =>
    [...partsOfFolders(files)].flatMap(([folder, parts]) => {
      const circle = circleOf(parts);
      return circle === undefined ? [] : [`in ${folder}: ${circle}`];
    });

  it('are free of circles in the service and its packages', () => {
    expect(circles(imports)).toEqual([]);
  });

  it('are free of circles in the dashboard', () => {
    expect(circles(dashboardImports)).toEqual([]);
  });
});

describe('the dashboard', () => {
  const folderOf = (file: string) =>
    path.relative(path.join('packages', 'dashboard', 'src'), file).split(path.sep)[0];

  it.each([
    ['ui', ['ui']],
    ['data', ['data', 'ui']],
  ])('has a folder %s that imports none but %j', (folder, allowed) => {
    const files = [...dashboardImports].filter(([file]) => folderOf(file) === folder);
    expect(files.length).toBeGreaterThan(5);
    const wrong = files.flatMap(([file, targets]) =>
      targets
        .filter((target) => !allowed.includes(folderOf(target) ?? ''))
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('serve', () => {
  const files = [...imports.keys()].filter((file) => file.startsWith(path.join('src', 'serve')));
  const wire = path.join('src', 'serve', 'wire');

  it('has framings that import wire and packages alone', () => {
    const folder = path.join('src', 'serve', 'lane', 'framings');
    const framings = files.filter((file) => path.dirname(file) === folder);
    expect(framings.length).toBeGreaterThan(2);
    const wrong = framings.flatMap((file) =>
      importedBy(file)
        .filter((name) => name.startsWith('.'))
        .map((name) => path.join(folder, name))
        .filter((target) => ![wire, folder].includes(path.dirname(target)))
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('names media types of protocols in one file', () => {
    // In texts and in regular expressions, where the slash is escaped; comments may name them.
    const named = /application\\?\/[^'"`]{0,3}(?:grpc|connect|proto|json|x-ndjson)/;
    const comment = /^\s*(?:\/\/|\/?\*)/;
    const naming = files.filter((file) => {
      const lines = readFileSync(path.join(ROOT, file), 'utf8').split('\n');
      return lines.some((line) => !comment.test(line) && named.test(line));
    });
    expect(naming).toEqual([path.join(wire, 'media-types.ts')]);
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

it('the page has a walk for what the lane leaves to Connect, for memory, changes, events and large steps', () => {
  expect(walks.length).toBe(5);
});
