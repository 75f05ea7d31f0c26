/** Texts of the frame around all screens. */

/** The navigation, the user, and failures of whole screens. */
export const frameText = {
  product: "Denrei",
  skip: "Skip to content",
  menu: "Menu",
  navigation: "Main",
  loggedInAs: "Logged in as",
  logOut: "Log out",
  logoutFailed: "Logout failed:",
  screenFailed: (error: string) => `This screen failed. Reload the page. Error: ${error}`,
} as const;

/** Names of screens in the navigation. */
export const screenNames = {
  applications: "Applications",
  builds: "Builds",
  previews: "Previews",
  github: "GitHub",
  pipecd: "PipeCD",
  zundoko: "Zundoko",
  bus: "The bus",
} as const;

/** The button of the search, whose dialog is loaded on first use. */
export const searchText = {
  open: "Search",
  /** The shortcut on a Mac, and on other systems. */
  keys: { mac: "⌘ K", other: "Ctrl K" },
  notLoaded: "The search could not be loaded. Reload the page.",
} as const;
