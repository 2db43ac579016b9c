import type { JsonValue } from '@bufbuild/protobuf';
import { IconArrowDown, IconArrowUp, IconX } from '@tabler/icons-react';
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { withItem, withItemsAt, withMoved, withoutItem } from '../code/json-members.js';
import { type FieldProps, useForms } from './field-context.js';
import { splitProblems } from './field-problems.js';
import type { Form, ListForm } from './form.js';
import { formOf } from './form-of.js';
import { initialValue, itemSchema } from './form-values.js';
import { hasLines, itemsOfLines } from './list-lines.js';
import { useItemKeys } from './use-item-keys.js';

/** Rows that are drawn at first. */
const FIRST_ROWS = 50;

interface ListRowsProps {
  readonly field: FieldProps<ListForm>;
  readonly items: readonly JsonValue[];
  /** Whether pasted lines are items. */
  readonly isLinear: boolean;
}

/** The items of a list, one input each. */
export function ListRows({ field, items, isLinear }: ListRowsProps) {
  const { root, Field } = useForms();
  const { form, label, onChange } = field;
  const keys = useItemKeys(items.length);
  const [shown, setShown] = useState(FIRST_ROWS);
  const list = useRef<HTMLOListElement>(null);
  const toFocus = useRef<number | null>(null);
  const count = useRef(items.length);
  useEffect(() => {
    // The button below the list adds one item at the end.
    if (items.length === count.current + 1 && toFocus.current === null && count.current < FIRST_ROWS) {
      toFocus.current = items.length - 1;
    }
    count.current = items.length;
    if (toFocus.current === null) return;
    const row = list.current?.children[Math.min(toFocus.current, items.length - 1)];
    // The input of an item comes after the choice of its form.
    const input =
      row?.querySelector<HTMLElement>('input, textarea') ?? row?.querySelector<HTMLElement>('select');
    input?.focus();
    toFocus.current = null;
  }, [items.length]);
  if (items.length === 0) return null;
  const names = items.map((_, index) => `[${index}]`);
  const { of } = splitProblems(field.problems, names);
  const change = (edit: <T>(list: readonly T[]) => T[]): void => {
    keys.current = edit(keys.current);
    onChange(edit(items));
  };
  const insertAfter = (index: number): void => {
    const added = initialValue(root, formOf(root, itemSchema(form, index + 1)));
    toFocus.current = index + 1;
    keys.current = keys.current.toSpliced(index + 1, 0, keys.fresh());
    onChange(items.toSpliced(index + 1, 0, added));
  };
  const onKeyDown = (event: KeyboardEvent, index: number): void => {
    const isInput = event.target instanceof HTMLInputElement;
    if (event.key !== 'Enter' || !isInput || event.nativeEvent.isComposing || !isLinear) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    insertAfter(index);
  };
  const onPaste = (event: ClipboardEvent, index: number): void => {
    const pasted = event.clipboardData.getData('text/plain').trim();
    if (!isLinear || !/[\r\n]/.test(pasted) || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    const added = itemsOfLines(pasted, formOf(root, form.item), items);
    const old = items[index];
    onChange(withItemsAt(items, index, old === '' || old === null ? added : [old ?? null, ...added]));
  };
  return (
    <>
      <ol className="schema-list" ref={list}>
        {items.slice(0, shown).map((item, index) => {
          const itemForm = formOf(root, itemSchema(form, index));
          const name = `${label} ${index + 1}`;
          return (
            <li
              key={keys.current[index]}
              className={isNested(itemForm) ? 'nested' : undefined}
              onKeyDown={(event) => onKeyDown(event, index)}
              onPaste={(event) => onPaste(event, index)}
            >
              <Field
                form={itemForm}
                label={name}
                value={item}
                onChange={(next) => onChange(withItem(items, index, next))}
                problems={of.get(`[${index}]`) ?? []}
                isRequired={false}
                isCompact
              />
              <span className="schema-item-actions">
                <button
                  type="button"
                  className="icon quiet"
                  aria-label={`Move ${name} up`}
                  disabled={index === 0}
                  onClick={() => change((all) => withMoved(all, index, index - 1))}
                >
                  <IconArrowUp size={16} />
                </button>
                <button
                  type="button"
                  className="icon quiet"
                  aria-label={`Move ${name} down`}
                  disabled={index === items.length - 1}
                  onClick={() => change((all) => withMoved(all, index, index + 1))}
                >
                  <IconArrowDown size={16} />
                </button>
                <button
                  type="button"
                  className="icon quiet"
                  aria-label={`Remove ${name}`}
                  onClick={() => {
                    toFocus.current = index;
                    change((all) => withoutItem(all, index));
                  }}
                >
                  <IconX size={16} />
                </button>
              </span>
            </li>
          );
        })}
      </ol>
      {items.length > shown && (
        <button type="button" onClick={() => setShown(items.length)}>
          Show all {items.length.toLocaleString()}
        </button>
      )}
    </>
  );
}

/** Whether an item is more than one input beside its choice. */
function isNested(form: Form): boolean {
  if (form.kind === 'choice') return !hasLines(form);
  return form.kind === 'object' || form.kind === 'list';
}
