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
        "An Installation keeps a GitHub App's token in a Secret, so that builds and previews can read your repositories. You can skip this to run ready-made images.",
      action: "Create an Installation",
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
