export function buildah(...words: string[]): string;
export function buildImage(tag: string, assembled: string): { service: number; base: number };
