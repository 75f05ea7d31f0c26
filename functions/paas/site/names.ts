/** Name of the ConfigMap. */
export const siteName = "modoki";
/** Keys of the ConfigMap: the settings, and a chart in either language. */
export const siteKeys = { config: "config.yaml", typescript: "chart.ts", javascript: "chart.js" } as const;
