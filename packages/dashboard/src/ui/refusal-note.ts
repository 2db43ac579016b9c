import { createContext, type ReactNode } from 'react';

/** What stands below a refusal, for example what the caller may see instead; nothing unless the page provides it. */
export const RefusalNote = createContext<ReactNode>(null);
