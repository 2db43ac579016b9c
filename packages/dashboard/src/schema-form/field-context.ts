import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { type ComponentType, createContext, useContext } from 'react';
import type { FieldProblem } from './field-problems.js';
import type { Form } from './form.js';

/** What each field of a form gets. */
export interface FieldProps<F extends Form = Form> {
  readonly form: F;
  /** Name of the member, or of the item. */
  readonly label: string;
  readonly value: JsonValue | undefined;
  /** Undefined: the member is left out. */
  readonly onChange: (value: JsonValue | undefined) => void;
  /** Paths are relative to the value. */
  readonly problems: readonly FieldProblem[];
  readonly isRequired: boolean;
  /** Whether the label is only for screen readers, because the place tells what it is. */
  readonly isCompact?: boolean;
}

interface Forms {
  /** The schema that references lead into. */
  readonly root: JsonObject;
  /** The field of any form. Fields with fields inside get it here, because they cannot import it. */
  readonly Field: ComponentType<FieldProps>;
}

const FormsContext = createContext<Forms | null>(null);

export const FormsProvider = FormsContext.Provider;

export function useForms(): Forms {
  const forms = useContext(FormsContext);
  if (forms === null) throw new Error('a field is outside of a form');
  return forms;
}
