// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0

// Browsers start no workers for pages from the disk, so the search runs in a hidden frame there.
// The offline plugin takes any script of this name in place of the one that it would load from a
// server on the Internet.

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.onmessage = null
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      const inside = frame.contentWindow
      this.inside = inside
      inside.postMessage = data => {
        const event = new MessageEvent("message", { data })
        this.dispatchEvent(event)
        if (this.onmessage) this.onmessage(event)
      }
      this.load(url).then(() => {
        this.isReady = true
        for (const data of this.waiting) this.postMessage(data)
      })
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.inside.document.createElement("script")
        script.src = new URL(url, location.href).href
        script.onload = resolve
        script.onerror = () => reject(new Error(`cannot load ${url}`))
        this.inside.document.body.appendChild(script)
      })
    }

    postMessage(data) {
      if (this.isReady) {
        this.inside.dispatchEvent(new MessageEvent("message", { data }))
      } else {
        this.waiting.push(data)
      }
    }

    terminate() {
      this.inside.frameElement.remove()
    }
  }
}
