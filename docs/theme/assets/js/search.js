// People paste code and error messages into the search, where these signs are operators: -1 leaves out every page with a 1,
// ~mask finds none, *= finds all. The worker that searches gets spaces instead; what was typed is its only message with a text.
(() => {
  const { postMessage } = Worker.prototype

  Worker.prototype.postMessage = function (message, ...rest) {
    const typed = typeof message?.data === "string"
    // Of a run of Chinese characters, the search leaves out the last one where it looks for words.
    const words = typed && message.data.replace(/[-+*~^:"]/g, " ").replace(/\p{sc=Han}+/gu, "$&〇")
    const sent = typed ? { ...message, data: words } : message
    return postMessage.call(this, sent, ...rest)
  }
})()
