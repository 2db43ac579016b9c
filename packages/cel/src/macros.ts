import type { MacroName } from './ast.js';
import { isMap, mapKeys, mapValue } from './equality.js';
import { isList } from './list-functions.js';
import { noOverload } from './operators.js';
import type { Code, Run } from './run.js';
import { CelMap, Fault, type MapKey, mapKeyOf, type Value } from './values.js';

/** The parts of a macro, compiled. */
export interface CompiledMacro {
  readonly macro: MacroName;
  readonly range: Code;
  /** Of its variable; the next one is that of the second variable. */
  readonly slot: number;
  readonly hasTwo: boolean;
  readonly filter: Code | null;
  readonly body: Code;
  /** Work of one round: the nodes of its condition. */
  readonly work: number;
}

/** Sets the variables for the item with an index. */
type SetVariables = (run: Run, range: Value, items: readonly Value[], index: number) => void;

/** Compiles a macro over the items of a list, or the keys of a map. Each round counts its work before it runs. */
export function compileMacro(parts: CompiledMacro): Code {
  const set = parts.hasTwo ? setTwo(parts.slot) : setOne(parts.slot);
  switch (parts.macro) {
    case 'all':
      return quantifier(parts, set, false);
    case 'exists':
      return quantifier(parts, set, true);
    case 'exists_one':
      return existsOne(parts, set);
    default:
      return selection(parts, set);
  }
}

function setOne(slot: number): SetVariables {
  return (run, _range, items, index) => {
    run.slots[slot] = items[index] as Value;
  };
}

function setTwo(slot: number): SetVariables {
  return (run, range, items, index) => {
    const item = items[index] as Value;
    run.slots[slot] = isList(range) ? index : item;
    run.slots[slot + 1] = isList(range) ? item : (mapValue(range, mapKeyOf(item) as MapKey) as Value);
  };
}

/** The items; a fault for what has none. */
function itemsOf(run: Run, macro: string, range: Value): readonly Value[] | Fault {
  if (isList(range)) return range;
  if (range instanceof Fault) return range;
  return isMap(range) ? mapKeys(run, range) : noOverload(macro, [range]);
}

/** `all` and `exists`: an item with the deciding value decides, whatever errors others have. */
function quantifier({ macro, range, body, work }: CompiledMacro, set: SetVariables, deciding: boolean): Code {
  return (run) => {
    const container = range(run);
    const items = itemsOf(run, macro, container);
    if (items instanceof Fault) return items;
    let fault: Fault | null = null;
    for (let index = 0; index < items.length; index += 1) {
      run.spend(work);
      set(run, container, items, index);
      const value = body(run);
      if (value === deciding) return deciding;
      if (value !== !deciding) fault ??= value instanceof Fault ? value : noOverload(macro, [value]);
    }
    return fault ?? !deciding;
  };
}

function existsOne({ macro, range, body, work }: CompiledMacro, set: SetVariables): Code {
  return (run) => {
    const container = range(run);
    const items = itemsOf(run, macro, container);
    if (items instanceof Fault) return items;
    let count = 0;
    for (let index = 0; index < items.length; index += 1) {
      run.spend(work);
      set(run, container, items, index);
      const value = body(run);
      if (value === true) count += 1;
      else if (value !== false) return value instanceof Fault ? value : noOverload(macro, [value]);
    }
    return count === 1;
  };
}

/** `map`, `filter`, `transformList` and `transformMap`. */
function selection({ macro, range, filter, body, work }: CompiledMacro, set: SetVariables): Code {
  const condition = macro === 'filter' ? body : filter;
  return (run) => {
    const container = range(run);
    const items = itemsOf(run, macro, container);
    if (items instanceof Fault) return items;
    const found: Value[] = [];
    const entries = new Map<MapKey, readonly [Value, Value]>();
    for (let index = 0; index < items.length; index += 1) {
      run.spend(work);
      set(run, container, items, index);
      if (condition !== null) {
        const value = condition(run);
        if (value === false) continue;
        if (value !== true) return value instanceof Fault ? value : noOverload(macro, [value]);
      }
      const item = items[index] as Value;
      const value = macro === 'filter' ? item : body(run);
      if (value instanceof Fault) return value;
      run.makeItems(1);
      if (macro !== 'transformMap') found.push(value);
      else {
        const key = isList(container) ? index : item;
        entries.set(mapKeyOf(key) as MapKey, [key, value]);
      }
    }
    return macro === 'transformMap' ? new CelMap(entries) : found;
  };
}
