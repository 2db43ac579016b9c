/**
 * A tree of the prefixes of values, in code units. Node 0 is the root, the empty prefix; deeper nodes have
 * higher numbers. Stored in typed arrays: a list may have a million characters, and an object for each would
 * take ten times the memory.
 */
export interface Trie {
  /** Number of nodes. */
  readonly size: number;
  /** The node one code unit further, 0 when no value continues with it. */
  child(node: number, unit: number): number;
  parent(node: number): number;
  /** The code unit that leads to a node. */
  unit(node: number): number;
  /** Length of the value that ends at a node, 0 when none does. */
  valueLength(node: number): number;
  /** Number of code units that lead to a node. */
  depth(node: number): number;
  /** Index of a value that begins with the code units that lead to a node. */
  valueIndex(node: number): number;
}

/** Builds the tree of non-empty values. */
export function createTrie(values: readonly string[]): Trie {
  const capacity = values.reduce((sum, value) => sum + value.length, 1);
  const parents = new Int32Array(capacity);
  const units = new Uint16Array(capacity);
  const valueLengths = new Int32Array(capacity);
  const depths = new Int32Array(capacity);
  const valueIndexes = new Int32Array(capacity);
  const slots = createSlots(capacity);
  let size = 1;

  const child = (node: number, unit: number): number => {
    let slot = slots.first(node, unit);
    for (;;) {
      const found = slots.node(slot);
      if (found === 0 || (parents[found] === node && units[found] === unit)) return found;
      slot = slots.next(slot);
    }
  };
  const add = (node: number, unit: number): number => {
    let slot = slots.first(node, unit);
    while (slots.node(slot) !== 0) slot = slots.next(slot);
    const added = size;
    size += 1;
    slots.put(slot, added);
    parents[added] = node;
    units[added] = unit;
    return added;
  };

  // Level by level, so that nodes are numbered by depth.
  let unfinished = values.map((value, index) => ({ value, index, node: 0 }));
  for (let depth = 0; unfinished.length > 0; depth += 1) {
    for (const entry of unfinished) {
      const unit = entry.value.charCodeAt(depth);
      entry.node = child(entry.node, unit) || add(entry.node, unit);
      depths[entry.node] = depth + 1;
      valueIndexes[entry.node] = entry.index;
      if (entry.value.length === depth + 1) valueLengths[entry.node] = depth + 1;
    }
    unfinished = unfinished.filter((entry) => entry.value.length > depth + 1);
  }

  return {
    size,
    child,
    parent: (node) => parents[node] ?? 0,
    unit: (node) => units[node] ?? 0,
    valueLength: (node) => valueLengths[node] ?? 0,
    depth: (node) => depths[node] ?? 0,
    valueIndex: (node) => valueIndexes[node] ?? 0,
  };
}

/** An open-addressing hash table of nodes, at most half full. */
function createSlots(capacity: number) {
  const bits = Math.max(4, 32 - Math.clz32(capacity * 2 - 1));
  const mask = 2 ** bits - 1;
  const nodes = new Int32Array(mask + 1);
  // The key of the table is random per process, so that values that collide in one slot cannot be prepared.
  const key = tableKey;
  return {
    first: (node: number, unit: number) => {
      let hash = Math.imul(node ^ key, 0x9e3779b1) ^ Math.imul(unit + key, 0x85ebca6b);
      hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
      return ((hash ^ (hash >>> 13)) >>> 0) & mask;
    },
    next: (slot: number) => (slot + 1) & mask,
    node: (slot: number) => nodes[slot] ?? 0,
    put: (slot: number, node: number) => {
      nodes[slot] = node;
    },
  };
}

const tableKey = Math.floor(Math.random() * 0x7fffffff);
