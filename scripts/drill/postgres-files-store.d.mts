import type { Store } from './drill.mjs';

export function openPostgresFilesStore(folder: string): Promise<Store>;
