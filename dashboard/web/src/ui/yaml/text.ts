/** The YAML of an object. */
export const text = {
  title: "YAML",
  show: "Show the YAML",
  hide: "Hide the YAML",
  copy: "Copy the YAML",
  readOnly: "Read-only, without managedFields",
  notLoaded: "The dashboard does not respond. Check your network connection.",
} as const;
