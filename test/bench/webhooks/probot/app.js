/** An app that ignores every event. `probot run` calls it. */
export default (app) => {
  app.on("push", async () => undefined);
};
