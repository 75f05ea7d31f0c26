/** An app that does nothing with what it is told. `probot run` calls it. */
export default (app) => {
  app.on("push", async () => undefined);
};
