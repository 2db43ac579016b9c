import type { JsonValue } from '@bufbuild/protobuf';
import { useState } from 'react';
import { type FieldProps, useForms } from './field-context.js';
import type { ListForm } from './form.js';
import { formOf } from './form-of.js';
import { initialValue, itemSchema } from './form-values.js';
import { ClearButton, GroupFrame } from './group-frame.js';
import { hasLines, isLinear } from './list-lines.js';
import { ListLines } from './list-lines-field.js';
import { ListRows } from './list-rows.js';

/** A list with more items is shown as lines at first. */
const MANY_ITEMS = 50;

/** A list: one input an item, or one text with an item a line. */
export function ListField(field: FieldProps<ListForm>) {
  const { root } = useForms();
  const { form, value, onChange, label, problems } = field;
  const items: readonly JsonValue[] = Array.isArray(value) ? value : [];
  const item = formOf(root, form.item);
  const canBeLines = form.first.length === 0 && hasLines(item) && isLinear(items);
  const [wantsLines, setWantsLines] = useState(items.length > MANY_ITEMS);
  const asLines = canBeLines && wantsLines;
  const isItem = /^\[(\d+)\]/;
  const own = problems.filter(({ path }) => {
    const index = isItem.exec(path)?.[1];
    return index === undefined || Number(index) >= items.length;
  });
  const add = (): void => {
    onChange([...items, initialValue(root, formOf(root, itemSchema(form, items.length)))]);
  };
  return (
    <GroupFrame
      field={{ ...field, problems: asLines ? problems : own }}
      actions={
        <>
          {!asLines && (
            <button type="button" onClick={add}>
              Add to <bdi>{label}</bdi>
            </button>
          )}
          {canBeLines && (
            <button
              type="button"
              className="quiet"
              aria-pressed={asLines}
              onClick={() => setWantsLines(!asLines)}
            >
              As lines
            </button>
          )}
          <ClearButton field={field} />
          {value === undefined && <span className="muted">not set</span>}
          {items.length > 0 && <span className="muted">{items.length.toLocaleString()} in the list</span>}
        </>
      }
    >
      {asLines ? (
        <ListLines label={label} item={item} items={items} onChange={onChange} />
      ) : (
        <ListRows field={field} items={items} isLinear={hasLines(item)} />
      )}
    </GroupFrame>
  );
}
