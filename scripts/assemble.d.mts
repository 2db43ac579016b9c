export function assemble(folder: string, compiled?: string): void;
export function sizeOf(folder: string): number;
