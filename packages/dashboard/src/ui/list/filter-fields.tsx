import { type Options, SelectField, TextField } from '../fields/fields.js';
import type { AddressFilter } from '../page/use-address-filter.js';

/** A filter of a list. */
export interface FilterField {
  /** Of its parameter in the address. */
  readonly name: string;
  readonly label: string;
  /** Pairs of a value and its text; absent for free text. */
  readonly options?: Options;
  readonly placeholder?: string;
}

interface FilterFieldsProps {
  readonly fields: readonly FilterField[];
  readonly filter: AddressFilter;
}

export function FilterFields({ fields, filter }: FilterFieldsProps) {
  return fields.map(({ name, options, ...field }) =>
    options === undefined ? (
      <TextField key={name} type="search" {...field} {...filter.field(name)} />
    ) : (
      <SelectField key={name} options={options} {...field} {...filter.field(name)} />
    ),
  );
}

/** The filters of a page, which are part of its address. */
export function FilterBar(props: FilterFieldsProps) {
  return (
    <search className="filters">
      <FilterFields {...props} />
    </search>
  );
}
