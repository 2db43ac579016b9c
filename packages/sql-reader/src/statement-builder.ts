import type {
  Clause,
  ColumnReference,
  EqualityTest,
  Operation,
  RowLimit,
  SelectBlock,
  Statement,
  TableReference,
  Use,
} from './model.js';

/** A named table or view; the table is empty for a whole schema. */
export interface Relation {
  readonly schema: string | null;
  readonly table: string;
}

/** Marks the use of relations not named in the text. */
export const HIDDEN = 'hidden';
/** Relations named by a part of a statement. */
export type NamedRelations = readonly Relation[] | typeof HIDDEN;

/** Visible names of CTEs, innermost first. */
export interface CteScope {
  readonly names: ReadonlySet<string>;
  readonly outer: CteScope | null;
}

/** Position of a walk over a statement's tree. */
export interface Place {
  readonly ctes: CteScope | null;
  readonly clause: Clause;
  /** The depth of a SELECT found here. */
  readonly depth: number;
  /** Whether a SELECT or a CTE encloses this place. */
  readonly nested: boolean;
  /** Whether this is the root of the statement. */
  readonly root: boolean;
  /** Whether tables found here are in FROM of the statement itself. */
  readonly topFrom: boolean;
  /** Whether columns found here belong to the statement itself, which is a plain SELECT. */
  readonly topColumns: boolean;
  /** Below an EXPLAIN that does not execute: tables count, operations do not. */
  readonly notRun: boolean;
}

/** The root of a statement. */
export function rootPlace(plainSelect: boolean): Place {
  return {
    ctes: null,
    clause: 'other',
    depth: plainSelect ? 0 : 1,
    nested: false,
    root: true,
    topFrom: false,
    topColumns: false,
    notRun: false,
  };
}

/** A nested place that belongs to no clause of the statement itself. */
export function below(place: Place, members: Partial<Place> = {}): Place {
  return { ...place, clause: 'other', root: false, topFrom: false, topColumns: false, ...members };
}

export function isCteInScope(scope: CteScope | null, name: string): boolean {
  for (let one = scope; one !== null; one = one.outer) if (one.names.has(name)) return true;
  return false;
}

/** Collects the results of a walk over one statement. */
export class StatementBuilder {
  readonly #operations = new Map<string, Operation>();
  readonly #tables: TableReference[] = [];
  readonly #columns: ColumnReference[] = [];
  readonly #selects: SelectBlock[] = [];
  #depth = 0;
  #joins = 0;
  #setOperations = 0;
  #hidesTables = false;
  #filter: readonly EqualityTest[] | null = null;

  operation(place: Place, name: string, more: Partial<Omit<Operation, 'name'>> = {}): void {
    if (place.notRun) return;
    const { also = [], recognised = true, dynamic = false } = more;
    this.#operations.set(`${name} ${also.join(' ')} ${recognised} ${dynamic}`, {
      name,
      also,
      recognised,
      dynamic,
    });
  }

  table(place: Place, schema: string | null, table: string, alias: string | null = null): void {
    this.#tables.push({ schema, table, alias, topLevel: place.topFrom });
  }

  /** Adds standalone relations, without an alias and not in FROM. */
  relations(place: Place, named: NamedRelations): void {
    if (named === HIDDEN) this.#hidesTables = true;
    else for (const { schema, table } of named) this.table(place, schema, table);
  }

  column(place: Place, name: string): void {
    this.#columns.push({ name, clause: place.clause, topLevel: place.topColumns });
  }

  select(place: Place, limit: RowLimit, offset: number): void {
    this.#depth = Math.max(this.#depth, place.depth);
    this.#selects.push({ nested: place.nested, limit, offset });
  }

  join(count = 1): void {
    this.#joins += Math.max(0, count);
  }

  setOperation(): void {
    this.#setOperations += 1;
  }

  filter(tests: readonly EqualityTest[]): void {
    this.#filter = tests;
  }

  build(uses: readonly Use[]): Statement {
    return {
      operations: [...this.#operations.values()],
      tables: this.#tables,
      columns: this.#columns,
      selects: this.#selects,
      depth: this.#depth,
      joins: this.#joins,
      setOperations: this.#setOperations,
      hidesTables: this.#hidesTables,
      filter: this.#filter,
      uses,
    };
  }
}

/** Collects what a statement uses, each once, in the order of the text. */
export class UsesBuilder {
  readonly #uses = new Map<string, Use>();

  /** `names` are those of a qualified name, or one word. */
  add(kind: Use['kind'], names: readonly string[] | string): void {
    const parts = typeof names === 'string' ? [names] : names;
    const key = `${kind} ${parts.join('.')}`;
    if (this.#uses.has(key)) return;
    const schema = parts.length > 1 ? parts.slice(0, -1).join('.') : null;
    this.#uses.set(key, { kind, name: parts.at(-1) ?? '', schema });
  }

  build(): readonly Use[] {
    return [...this.#uses.values()];
  }
}
