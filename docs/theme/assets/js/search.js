// People paste code and error messages into the search, where these signs are operators: -1 leaves out every page with a 1,
// ~mask finds none, *= finds all. The worker that searches gets spaces instead; what was typed is its only message with a text.
const { postMessage } = Worker.prototype

Worker.prototype.postMessage = function (message, ...rest) {
  const typed = typeof message?.data === "string"
  const sent = typed ? { ...message, data: message.data.replace(/[-+*~^:"]/g, " ") } : message
  return postMessage.call(this, sent, ...rest)
}
