import type { Store } from './drill.mjs';

export function openPostgresDumpStore(folder: string, serverUrl: string): Promise<Store>;
