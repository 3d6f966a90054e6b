"""A headless Chromium by its debugging protocol: a page, its picture, what it said and asked for. Standard library alone."""
import base64
import json
import os
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request


class Socket:
    """A WebSocket to 127.0.0.1."""

    def __init__(self, port, path):
        self.s = socket.create_connection(('127.0.0.1', port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall(('GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: %s\r\n'
                        'Sec-WebSocket-Version: 13\r\n\r\n' % (path, key)).encode())
        head = b''
        while b'\r\n\r\n' not in head:
            head += self.s.recv(1)

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        n = len(data)
        head = b'\x81' + (bytes([0x80 | n]) if n < 126 else b'\xfe' + struct.pack('>H', n) if n < 65536 else b'\xff' + struct.pack('>Q', n))
        self.s.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def _exactly(self, n):
        out = bytearray()
        while len(out) < n:
            part = self.s.recv(n - len(out))
            if not part:
                raise EOFError
            out += part
        return bytes(out)

    def receive(self):
        whole = b''
        while True:
            a, b = self._exactly(2)
            n = b & 127
            if n == 126:
                n = struct.unpack('>H', self._exactly(2))[0]
            elif n == 127:
                n = struct.unpack('>Q', self._exactly(8))[0]
            whole += self._exactly(n)
            if a & 0x80:
                return whole.decode()


class Browser:
    def __init__(self, program='chromium'):
        self.folder = tempfile.mkdtemp(prefix='report-browser-')
        self.process = subprocess.Popen(
            ['nice', '-n', '10', program, '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
             '--disable-component-update', '--disable-sync', '--hide-scrollbars', '--remote-debugging-port=0', '--user-data-dir=' + self.folder, 'about:blank'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                port = int(open(os.path.join(self.folder, 'DevToolsActivePort')).readline())
                pages = json.load(urllib.request.urlopen('http://127.0.0.1:%d/json' % port))
                page = next(p for p in pages if p['type'] == 'page')
                break
            except (OSError, ValueError, StopIteration):
                time.sleep(0.1)
        self.socket = Socket(port, page['webSocketDebuggerUrl'].split(str(port), 1)[1])
        self.number, self.said, self.asked = 0, [], []
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')

    def call(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({'id': self.number, 'method': method, 'params': params}))
        while True:
            got = json.loads(self.socket.receive())
            if got.get('id') == self.number:
                if 'error' in got:
                    raise RuntimeError(method + ': ' + got['error']['message'])
                return got.get('result', {})
            self._event(got)

    def _event(self, got):
        m, p = got.get('method'), got.get('params', {})
        if m == 'Runtime.exceptionThrown':
            d = p['exceptionDetails']
            self.said.append('exception: ' + d.get('exception', {}).get('description', d.get('text', '')))
        elif m == 'Log.entryAdded' and p['entry']['level'] in ('error', 'warning'):
            self.said.append(p['entry']['level'] + ': ' + p['entry']['text'])
        elif m == 'Runtime.consoleAPICalled' and p['type'] in ('error', 'warning'):
            self.said.append('console ' + p['type'])
        elif m == 'Network.requestWillBeSent':
            self.asked.append(p['request']['url'][:120])

    def run(self, expression):
        got = self.call('Runtime.evaluate', expression=expression, awaitPromise=True, returnByValue=True, allowUnsafeEvalBlockedByCSP=False)
        if 'exceptionDetails' in got:
            raise RuntimeError(got['exceptionDetails'].get('exception', {}).get('description', 'failed'))
        return got['result'].get('value')

    def open(self, path, hash='', width=1400, height=900, dark=False, scale=1):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=scale, mobile=width < 600)
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])
        self.call('Page.navigate', url='about:blank')
        begin = time.time()
        self.call('Page.navigate', url='file://' + os.path.abspath(path) + hash)
        for _ in range(600):
            if self.run('document.documentElement && document.documentElement.dataset.ready || ""') or self.said:
                break
            time.sleep(0.02)
        self.seconds = time.time() - begin
        return self.run('document.documentElement.dataset.ready')

    def settle(self, seconds=0.4):
        for _ in range(100):
            time.sleep(seconds / 4)
            if not self.run('document.body.innerText.includes("unpacking the IR")'):
                break
        time.sleep(seconds / 2)

    def picture(self, path, whole=False):
        options = {'format': 'png'}
        if whole:
            size = self.call('Page.getLayoutMetrics')['cssContentSize']
            options.update(captureBeyondViewport=True, clip={'x': 0, 'y': 0, 'width': size['width'], 'height': min(size['height'], 6000), 'scale': 1})
        open(path, 'wb').write(base64.b64decode(self.call('Page.captureScreenshot', **options)['data']))

    def key(self, key):
        for kind in ('keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=key, text=key if len(key) == 1 and kind == 'keyDown' else '')

    def pdf(self):
        return base64.b64decode(self.call('Page.printToPDF', printBackground=True, paperWidth=8.27, paperHeight=11.69)['data'])

    def close(self):
        try:
            self.call('Browser.close')
        except (EOFError, OSError, RuntimeError):
            pass
        self.process.wait(20)
