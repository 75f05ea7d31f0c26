/** Syntax of hosts. This file has no imports because the dashboard's page uses it too. */

const label = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";

/** A host, or a wildcard for all hosts of a domain. */
export const hostPattern = new RegExp(`^(\\*\\.)?(${label})(\\.${label})*$`);
