/** What happened at a check: the decision of a control that matched, an error, or nothing. */
export type Sign = 'deny' | 'steer' | 'observe' | 'safe' | 'error' | 'none';
