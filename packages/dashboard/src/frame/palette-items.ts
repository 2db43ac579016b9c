import type { RecentPage } from '../ui/page/recent-pages.js';

/** Keys of the field that the results answer. */
export const PALETTE_KEYS = ['ArrowDown', 'ArrowUp', 'Enter'] as const;
export type PaletteKey = (typeof PALETTE_KEYS)[number];

/** A choice of the palette. */
export interface PaletteItem {
  /** Unique in the palette. */
  readonly id: string;
  readonly label: string;
  /** Keys that do the same. */
  readonly keys?: string | undefined;
  /** Either the address that it leads to, or what it does. */
  readonly action: { readonly href: string } | { readonly run: () => void };
}

/** Choices of one kind. */
export interface PaletteGroup {
  readonly name: string;
  readonly items: readonly PaletteItem[];
}

/** Whether all words of a text are in a label, in any order. */
export function matchesWords(label: string, text: string): boolean {
  const inLabel = label.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => inLabel.includes(word));
}

/** Items that match a text; those that begin with it first. */
export function matching(items: readonly PaletteItem[], text: string): readonly PaletteItem[] {
  const start = text.toLowerCase();
  const begins = ({ label }: PaletteItem): number => (label.toLowerCase().startsWith(start) ? 0 : 1);
  return items
    .filter(({ label }) => matchesWords(label, text))
    .toSorted((one, other) => begins(one) - begins(other));
}

/** Choices for pages that were opened before. */
export function recentItems(pages: readonly RecentPage[]): readonly PaletteItem[] {
  return pages.map(({ href, title }) => ({
    id: `recent ${href}`,
    label: `${kindOf(href)} ${title}`,
    action: { href },
  }));
}

/** Groups with at least one item, without items whose address an earlier group has. */
export function withoutRepeats(groups: readonly PaletteGroup[]): readonly PaletteGroup[] {
  const seen = new Set<string>();
  return groups
    .map(({ name, items }) => ({
      name,
      items: items.filter(({ action }) => {
        if (!('href' in action)) return true;
        const isNew = !seen.has(action.href);
        seen.add(action.href);
        return isNew;
      }),
    }))
    .filter(({ items }) => items.length > 0);
}

function kindOf(href: string): string {
  const [, kind = ''] = /^\/([a-z]+)/.exec(href) ?? [];
  return (
    {
      approvals: 'Approval',
      agents: 'Agent',
      controls: 'Control',
      policies: 'Policy',
      packs: 'Pack',
      traces: 'Trace',
    }[kind] ?? ''
  );
}
