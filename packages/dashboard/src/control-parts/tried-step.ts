import type { JsonValue } from '@bufbuild/protobuf';
import { createContext, useContext } from 'react';

/** The step that an explanation is about, if the viewer has given it: findings are shown in its texts. */
const TriedStepContext = createContext<JsonValue | undefined>(undefined);

export const TriedStep = TriedStepContext.Provider;

export function useTriedStep(): JsonValue | undefined {
  return useContext(TriedStepContext);
}

/** The step of a JSON text; undefined if it is none. */
export function stepOfText(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
