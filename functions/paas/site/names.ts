/** Name of the ConfigMap. */
export const siteName = "modoki";
/** Its keys: the settings, and a chart in one language or the other. */
export const siteKeys = { config: "config.yaml", typescript: "chart.ts", javascript: "chart.js" } as const;
