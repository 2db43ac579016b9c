import { type Tab, Tabs } from './tabs.js';
import { useAddressFilter } from './use-address-filter.js';

interface AddressTabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
}

/** Tabs of a page. The selected one is part of the address, unless it is the first. */
export function AddressTabs({ label, tabs }: AddressTabsProps) {
  const { get, set } = useAddressFilter();
  const first = tabs[0]?.id ?? '';
  return (
    <Tabs
      label={label}
      tabs={tabs}
      selected={get('tab') || first}
      onSelect={(id) => set('tab', id === first ? '' : id)}
    />
  );
}
