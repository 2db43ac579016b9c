/** Builds the dashboard, unless it is already built from the same files. Returns whether it had to be built. */
export function buildDashboard(): Promise<boolean>;
