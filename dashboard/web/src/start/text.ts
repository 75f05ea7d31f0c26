/** Texts of the first steps. */
export const text = {
  title: "First steps",
  hide: "Hide the first steps",
  done: "Done",
  next: "Next",
  later: "Later",
  steps: {
    github: {
      name: "Connect GitHub",
      about:
        "A GitHub App of your own lets builds and previews read your repositories. The page creates it with you on GitHub. You can skip this to run ready-made images.",
      action: "Create a GitHub App",
      otherwise: "You have an App already?",
      alternative: "Create an Installation",
    },
    application: {
      name: "Run the first Application",
      about:
        "An Application runs an image and serves it at its hosts. A RemoteSync can build the image from a repository.",
      action: "Create the first Application",
    },
    preview: {
      name: "Preview pull requests",
      about: "An AppPipeline builds and runs each open pull request of a repository at its own address.",
      action: "Preview a repository",
    },
  },
};
