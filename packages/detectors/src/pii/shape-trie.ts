import type { ShapedKind } from './kinds/kind.js';

/** One way to write a kind. */
export interface Shape {
  readonly kind: ShapedKind;
  readonly score: number;
  /** Whether it has letters. */
  readonly hasLetters: boolean;
}

/** Where the groups of letters and digits so far lead. */
export interface ShapeNode {
  /** Nodes after a further group, by `groupKey` of it and of the separator in front of it. */
  readonly next: Map<number, ShapeNode>;
  /** Shapes that end here. */
  readonly shapes: Shape[];
}

/** Longest group, in units. */
export const MAX_GROUP_LENGTH = 19;
/** Units that may stand between two groups. Their places are their codes, from 1. */
const SEPARATORS = ' -./+';
/** Codes of separators by unit; 0 is none. */
const SEPARATOR_CODES = Uint8Array.from({ length: 128 }, (_, unit) => {
  const at = SEPARATORS.indexOf(String.fromCharCode(unit));
  return at + 1;
});

/** The code of a separator; 0 for other units. */
export function separatorCode(unit: number): number {
  return unit < 128 ? (SEPARATOR_CODES[unit] ?? 0) : 0;
}

/** A number for a group of letters and digits: its length, the places of its letters as bits, the separator before it. */
export function groupKey(length: number, letters: number, separator: number): number {
  return (letters * 32 + length) * 8 + separator;
}

/** The shapes of kinds as a trie over their groups. */
export function createShapeTrie(kinds: readonly ShapedKind[]): ShapeNode {
  const root: ShapeNode = { next: new Map(), shapes: [] };
  for (const kind of kinds) {
    for (const [written, score] of Object.entries(kind.shapes)) {
      for (const shape of alternatives(written))
        add(root, shape, { kind, score, hasLetters: shape.includes('L') });
    }
  }
  return root;
}

/** Each `?` is a digit or a letter. Numbers of digits are written out. */
function alternatives(written: string): string[] {
  const plain = written.replaceAll(/\d+/g, (count) => 'D'.repeat(Number(count)));
  let found = [''];
  for (const unit of plain) {
    found =
      unit === '?'
        ? found.flatMap((start) => [`${start}D`, `${start}L`])
        : found.map((start) => start + unit);
  }
  return found;
}

function add(root: ShapeNode, shape: string, end: Shape): void {
  let node = root;
  for (const [, before = '', group = ''] of shape.matchAll(/([ \-./+]?)([DL]+)/g)) {
    let letters = 0;
    for (let at = 0; at < group.length; at += 1) if (group[at] === 'L') letters += 2 ** at;
    const key = groupKey(group.length, letters, before === '' ? 0 : SEPARATORS.indexOf(before) + 1);
    const next = node.next.get(key) ?? { next: new Map(), shapes: [] };
    node.next.set(key, next);
    node = next;
  }
  node.shapes.push(end);
}
