/** The intervals while a drill runs. With lists this often, the time without a master is known to a second. */
export const HASTENED_MS = { vrrp: 500, websites: 1000, discovery: undefined } as const;
