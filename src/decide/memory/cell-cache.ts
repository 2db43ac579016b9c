import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import { Cell, type CellContext, type CellName } from './cell.js';

const MAX_CELLS = 200_000;

/** Cells as the store had them last; those that were not used for longest go first. */
export class CellCache {
  readonly #context: CellContext;
  /** With the weight that they were added with: cells change. */
  readonly #cells: BoundedMap<string, { readonly cell: Cell; readonly weight: number }>;

  constructor(context: CellContext, maxBytes: number) {
    this.#context = context;
    this.#cells = new BoundedMap({ entries: MAX_CELLS, weight: maxBytes, weightOf: ({ weight }) => weight });
  }

  get size(): number {
    return this.#cells.size;
  }

  /** A cell as it is known, or an empty one: the exchange tells if it is not. `keep` notes that it was used. */
  cellOf(name: CellName, nowUs: number): Cell {
    const known = this.#cells.get(name.id)?.cell;
    if (known !== undefined && !known.hasExpired(nowUs)) return known;
    return new Cell(name, this.#context);
  }

  keep(cell: Cell): void {
    this.#cells.delete(cell.id);
    this.#cells.set(cell.id, { cell, weight: cell.weight });
  }

  drop(id: string): void {
    this.#cells.delete(id);
  }

  clear(): void {
    this.#cells.clear();
  }
}
