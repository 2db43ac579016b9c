import type { MacroName } from './ast.js';
import { isMap, mapKeys } from './equality.js';
import { isList } from './list-functions.js';
import { noOverload } from './operators.js';
import type { Code, Run } from './run.js';
import { Fault, type Value } from './values.js';

/** The parts of a macro, compiled. */
export interface CompiledMacro {
  readonly macro: MacroName;
  readonly range: Code;
  readonly slot: number;
  readonly filter: Code | null;
  readonly body: Code;
  /** Work of one round: the nodes of its condition. */
  readonly work: number;
}

/** Compiles a macro over the items of a list, or the keys of a map. Each round counts its work before it runs. */
export function compileMacro(parts: CompiledMacro): Code {
  switch (parts.macro) {
    case 'all':
      return quantifier(parts, false);
    case 'exists':
      return quantifier(parts, true);
    case 'exists_one':
      return existsOne(parts);
    default:
      return selection(parts);
  }
}

/** The items; a fault for what has none. */
function itemsOf(run: Run, macro: string, range: Value): readonly Value[] | Fault {
  if (isList(range)) return range;
  if (range instanceof Fault) return range;
  return isMap(range) ? mapKeys(run, range) : noOverload(macro, [range]);
}

/** `all` and `exists`: an item with the deciding value decides, whatever errors others have. */
function quantifier({ macro, range, slot, body, work }: CompiledMacro, deciding: boolean): Code {
  return (run) => {
    const items = itemsOf(run, macro, range(run));
    if (items instanceof Fault) return items;
    let fault: Fault | null = null;
    for (const item of items) {
      run.spend(work);
      run.slots[slot] = item;
      const value = body(run);
      if (value === deciding) return deciding;
      if (value !== !deciding) fault ??= value instanceof Fault ? value : noOverload(macro, [value]);
    }
    return fault ?? !deciding;
  };
}

function existsOne({ macro, range, slot, body, work }: CompiledMacro): Code {
  return (run) => {
    const items = itemsOf(run, macro, range(run));
    if (items instanceof Fault) return items;
    let count = 0;
    for (const item of items) {
      run.spend(work);
      run.slots[slot] = item;
      const value = body(run);
      if (value === true) count += 1;
      else if (value !== false) return value instanceof Fault ? value : noOverload(macro, [value]);
    }
    return count === 1;
  };
}

/** `map` and `filter`. */
function selection({ macro, range, slot, filter, body, work }: CompiledMacro): Code {
  const condition = macro === 'filter' ? body : filter;
  return (run) => {
    const items = itemsOf(run, macro, range(run));
    if (items instanceof Fault) return items;
    const found: Value[] = [];
    for (const item of items) {
      run.spend(work);
      run.slots[slot] = item;
      if (condition !== null) {
        const value = condition(run);
        if (value === false) continue;
        if (value !== true) return value instanceof Fault ? value : noOverload(macro, [value]);
      }
      const value = macro === 'filter' ? item : body(run);
      if (value instanceof Fault) return value;
      run.makeItems(1);
      found.push(value);
    }
    return found;
  };
}
