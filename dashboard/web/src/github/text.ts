/** Sentences of the GitHub screens. */
export const text = {
  repositories: "Repositories",
  repositoriesOf: {
    own: (account: string) =>
      `If empty, the token covers all repositories of ${account}, including future ones.`,
    other: (account: string) =>
      `Choose at least one: ${account} is not your own account, so the token cannot cover all repositories.`,
    unknown: "Enter at least one, unless the installation is of your own account.",
  },
  namesOfRepositories: "One name per line, without the owner.",
} as const;
