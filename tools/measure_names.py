"""Run every operation of the table below and print, as JSON, which nodes the installed torch makes for it.

Needs the package and torch alone, on Python 3.9 or newer: tools/names.py starts it with one torch after another.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from gradfn_tutorial import trace
from gradfn_tutorial.graph import Node
from gradfn_tutorial.layers import WRAPPERS

# What the operations are run on. A digit at the end of a name is the number of dimensions; without one there are two.
INPUTS = {
    "input": "torch.rand(4, 4) / 2 + 0.1",
    "input1": "torch.rand(4)",
    "input3": "torch.rand(2, 4, 4)",
    "input4": "torch.rand(2, 4, 8, 8)",
    "input5": "torch.rand(1, 4, 8, 8, 8)",
    "other": "torch.rand(4, 4) + 1",
    "other1": "torch.rand(4)",
    "other3": "torch.rand(2, 4, 4)",
    "matrix": "torch.eye(4) * 4 + torch.rand(1)",
    "weight": "torch.rand(4, 4)",
    "weight1": "torch.rand(4)",
    "weight3": "torch.rand(4, 4, 3)",
    "weight4": "torch.rand(4, 4, 3, 3)",
    "weight5": "torch.rand(4, 4, 3, 3, 3)",
    "bias": "torch.rand(4)",
    "target": "torch.rand(4, 4)",
    "query": "torch.rand(1, 2, 4, 8)",
    "key": "torch.rand(1, 2, 4, 8)",
    "value": "torch.rand(1, 2, 4, 8)",
    "complex": "torch.rand(4, 4) + 1j",
}
# The same without gradient: data, statistics, indices.
CONSTANTS = {
    "data": "torch.rand(4, 4)",
    "data1": "torch.rand(4)",
    "data3": "torch.rand(2, 4, 4)",
    "data4": "torch.rand(2, 4, 8, 8)",
    "mean": "torch.zeros(4)",
    "variance": "torch.ones(4)",
    "labels": "torch.arange(4)",
    "signs": "torch.ones(4, 4)",
    "signs1": "torch.ones(4)",
    "index": "torch.arange(4).expand(4, 4).clone()",
    "index1": "torch.tensor([2, 0])",
    "mask": "torch.eye(4) > 0",
}
RAW = "_raw_saved_"
# Family by family, one operation a line: its key, and each way to write it. Statements may stand before a last expression.
OPERATIONS = {
    "arithmetic": """
        add: input + other | torch.add(input, other)
        add-number: input + 1
        sub: input - other | torch.sub(input, other)
        rsub: 1 - input | torch.rsub(input, 1)
        mul: input * other | torch.mul(input, other)
        mul-number: input * 2
        div: input / other | torch.div(input, other)
        rdiv: 1 / input
        div-floor: torch.div(input, other, rounding_mode="floor")
        floor-divide: input // other | torch.floor_divide(input, other)
        remainder: input % other | torch.remainder(input, other)
        fmod: torch.fmod(input, other)
        pow: input ** 2 | torch.pow(input, 2)
        pow-tensor: input ** other | torch.pow(input, other)
        pow-base: 2 ** input | torch.pow(2, input)
        float-power: torch.float_power(input, 2)
        neg: -input | torch.neg(input)
        addcmul: torch.addcmul(input, other, weight)
        addcdiv: torch.addcdiv(input, other, weight)
        lerp: torch.lerp(input, other, 0.5)
        lerp-tensor: torch.lerp(input, other, weight)
        maximum: torch.maximum(input, other)
        minimum: torch.minimum(input, other)
        fmax: torch.fmax(input, other)
        fmin: torch.fmin(input, other)
        hypot: torch.hypot(input, other)
        atan2: torch.atan2(input, other)
        copysign: torch.copysign(input, other)
        ldexp: torch.ldexp(input, labels)
        xlogy: torch.xlogy(input, other)
        logaddexp: torch.logaddexp(input, other)
        logaddexp2: torch.logaddexp2(input, other)
        where: torch.where(mask, input, other)
        clamp: torch.clamp(input, 0.2, 0.8) | torch.clip(input, 0.2, 0.8)
        clamp-tensor: torch.clamp(input, weight, other)
        clamp-min: torch.clamp_min(input, 0.2)
        clamp-max: torch.clamp_max(input, 0.8)
    """,
    "pointwise": """
        abs: torch.abs(input) | torch.absolute(input)
        exp: torch.exp(input)
        exp2: torch.exp2(input)
        expm1: torch.expm1(input)
        log: torch.log(input)
        log2: torch.log2(input)
        log10: torch.log10(input)
        log1p: torch.log1p(input)
        sqrt: torch.sqrt(input)
        rsqrt: torch.rsqrt(input)
        reciprocal: torch.reciprocal(input)
        square: torch.square(input)
        sin: torch.sin(input)
        cos: torch.cos(input)
        tan: torch.tan(input)
        asin: torch.asin(input) | torch.arcsin(input)
        acos: torch.acos(input) | torch.arccos(input)
        atan: torch.atan(input) | torch.arctan(input)
        sinh: torch.sinh(input)
        cosh: torch.cosh(input)
        asinh: torch.asinh(input)
        acosh: torch.acosh(other)
        atanh: torch.atanh(input)
        sinc: torch.sinc(input)
        sign: torch.sign(input)
        sgn: torch.sgn(input)
        floor: torch.floor(input)
        ceil: torch.ceil(input)
        round: torch.round(input)
        round-decimals: torch.round(input, decimals=1)
        trunc: torch.trunc(input) | torch.fix(input)
        frac: torch.frac(input)
        nan-to-num: torch.nan_to_num(input)
        deg2rad: torch.deg2rad(input)
        rad2deg: torch.rad2deg(input)
        erf: torch.erf(input) | torch.special.erf(input)
        erfc: torch.erfc(input) | torch.special.erfc(input)
        erfinv: torch.erfinv(input) | torch.special.erfinv(input)
        erfcx: torch.special.erfcx(input)
        ndtri: torch.special.ndtri(input)
        ndtr: torch.special.ndtr(input)
        log-ndtr: torch.special.log_ndtr(input)
        entr: torch.special.entr(input)
        lgamma: torch.lgamma(input) | torch.special.gammaln(input)
        digamma: torch.digamma(input) | torch.special.digamma(input)
        polygamma: torch.polygamma(1, input)
        mvlgamma: torch.mvlgamma(other, 1)
        i0: torch.i0(input) | torch.special.i0(input)
        i0e: torch.special.i0e(input)
        i1: torch.special.i1(input)
        i1e: torch.special.i1e(input)
        xlog1py: torch.special.xlog1py(input, other)
        zeta: torch.special.zeta(2, other)
        logit: torch.logit(input) | torch.special.logit(input)
    """,
    "activations": """
        relu: F.relu(input) | torch.relu(input) | nn.ReLU()(input)
        relu6: F.relu6(input) | nn.ReLU6()(input)
        leaky-relu: F.leaky_relu(input) | nn.LeakyReLU()(input)
        prelu: F.prelu(input, weight1) | nn.PReLU(4)(input)
        rrelu: F.rrelu(input, training=True) | nn.RReLU()(input)
        elu: F.elu(input) | nn.ELU()(input)
        selu: F.selu(input) | nn.SELU()(input)
        celu: F.celu(input) | nn.CELU()(input)
        gelu: F.gelu(input) | nn.GELU()(input)
        silu: F.silu(input) | nn.SiLU()(input)
        mish: F.mish(input) | nn.Mish()(input)
        sigmoid: torch.sigmoid(input) | F.sigmoid(input) | nn.Sigmoid()(input)
        logsigmoid: F.logsigmoid(input) | nn.LogSigmoid()(input)
        hardsigmoid: F.hardsigmoid(input) | nn.Hardsigmoid()(input)
        tanh: torch.tanh(input) | F.tanh(input) | nn.Tanh()(input)
        hardtanh: F.hardtanh(input) | nn.Hardtanh()(input)
        tanhshrink: F.tanhshrink(input) | nn.Tanhshrink()(input)
        softplus: F.softplus(input) | nn.Softplus()(input)
        softsign: F.softsign(input) | nn.Softsign()(input)
        softshrink: F.softshrink(input) | nn.Softshrink()(input)
        hardshrink: F.hardshrink(input) | nn.Hardshrink()(input)
        hardswish: F.hardswish(input) | nn.Hardswish()(input)
        threshold: F.threshold(input, 0.1, 0.0) | nn.Threshold(0.1, 0.0)(input)
        glu: F.glu(input) | nn.GLU()(input)
        softmax: F.softmax(input, 1) | torch.softmax(input, 1) | nn.Softmax(1)(input)
        log-softmax: F.log_softmax(input, 1) | torch.log_softmax(input, 1) | nn.LogSoftmax(1)(input)
        softmin: F.softmin(input, 1) | nn.Softmin(1)(input)
        gumbel-softmax: F.gumbel_softmax(input)
    """,
    "reductions": """
        sum: torch.sum(input)
        sum-dim: torch.sum(input, 1)
        nansum: torch.nansum(input)
        mean: torch.mean(input)
        mean-dim: torch.mean(input, 1)
        nanmean: torch.nanmean(input)
        prod: torch.prod(input)
        prod-dim: torch.prod(input, 1)
        max: torch.max(input)
        max-dim: torch.max(input, 1).values
        amax: torch.amax(input, 1)
        min: torch.min(input)
        min-dim: torch.min(input, 1).values
        amin: torch.amin(input, 1)
        aminmax: torch.aminmax(input).max
        median: torch.median(input)
        median-dim: torch.median(input, 1).values
        mode: torch.mode(input, 1).values
        kthvalue: torch.kthvalue(input, 2).values
        quantile: torch.quantile(input, 0.5)
        var: torch.var(input)
        std: torch.std(input)
        var-mean: torch.var_mean(input)[1]
        std-mean: torch.std_mean(input)[1]
        logsumexp: torch.logsumexp(input, 1)
        cumsum: torch.cumsum(input, 1)
        cumprod: torch.cumprod(input, 1)
        cummax: torch.cummax(input, 1).values
        cummin: torch.cummin(input, 1).values
        logcumsumexp: torch.logcumsumexp(input, 1)
        norm: torch.norm(input) | input.norm()
        norm-p: torch.norm(input, p=3) | input.norm(3)
        dist: torch.dist(input, other)
        renorm: torch.renorm(input, 2, 0, 1.0)
        trace: torch.trace(input)
        sort: torch.sort(input).values
        msort: torch.msort(input)
        topk: torch.topk(input, 2).values
        diff: torch.diff(input)
        trapezoid: torch.trapezoid(input)
        cov: torch.cov(input)
        corrcoef: torch.corrcoef(input)
    """,
    "views": """
        view: input.view(16)
        view-as: input.view_as(other)
        reshape: input.reshape(16) | torch.reshape(input, (16,))
        reshape-copy: input.t().reshape(16)
        flatten: torch.flatten(input) | nn.Flatten(0)(input)
        unflatten: torch.unflatten(input, 1, (2, 2)) | nn.Unflatten(1, (2, 2))(input)
        ravel: torch.ravel(input)
        t: input.t() | torch.t(input)
        T: input.T
        mT: input.mT
        transpose: torch.transpose(input, 0, 1) | torch.swapaxes(input, 0, 1)
        permute: torch.permute(input, (1, 0)) | input.permute(1, 0)
        movedim: torch.movedim(input3, 0, 2)
        squeeze: torch.squeeze(input5)
        squeeze-dim: torch.squeeze(input5, 0)
        squeeze-dims: torch.squeeze(input5, (0, 1))
        unsqueeze: torch.unsqueeze(input, 0) | input[None]
        expand: input.expand(2, 4, 4) | torch.broadcast_to(input, (2, 4, 4))
        expand-as: input.expand_as(other3)
        as-strided: torch.as_strided(input, (2, 2), (1, 2))
        unfold: input.unfold(0, 2, 1)
        diagonal: torch.diagonal(input) | torch.linalg.diagonal(input)
        diag: torch.diag(input)
        diag-embed: torch.diag_embed(input)
        narrow: torch.narrow(input, 0, 0, 2)
        real: torch.real(complex)
        imag: torch.imag(complex)
        view-as-real: torch.view_as_real(complex)
        contiguous: input.t().contiguous()
        clone: input.clone() | torch.clone(input)
        to-double: input.double() | input.to(torch.float64)
        to-half: input.half()
        flip: torch.flip(input, (0,))
        fliplr: torch.fliplr(input)
        roll: torch.roll(input, 1)
        rot90: torch.rot90(input)
        repeat: input.repeat(2, 2)
        tile: torch.tile(input, (2, 2))
        repeat-interleave: torch.repeat_interleave(input, 2)
        tril: torch.tril(input)
        triu: torch.triu(input)
    """,
    "joining": """
        cat: torch.cat([input, other]) | torch.concat([input, other])
        stack: torch.stack([input, other])
        hstack: torch.hstack([input, other])
        vstack: torch.vstack([input, other])
        column-stack: torch.column_stack([input, other])
        split: torch.split(input, 2)[1]
        split-sizes: torch.split(input, [1, 3])[1]
        tensor-split: torch.tensor_split(input, 2)[1]
        chunk: torch.chunk(input, 2)[1]
        unbind: torch.unbind(input)[1]
        for-loop: [row for row in input][1]
        meshgrid: torch.meshgrid(input1, other1, indexing="ij")[1]
        block-diag: torch.block_diag(input, other)
        cartesian-prod: torch.cartesian_prod(input1, other1)
        combinations: torch.combinations(input1)
    """,
    "indexing": """
        index-int: input[1]
        select: torch.select(input, 0, 1)
        index-slice: input[1:3]
        index-step: input[::2]
        index-column: input[:, 1]
        index-ellipsis: input3[..., 1]
        index-tensor: input[index1]
        index-list: input[[2, 0]]
        index-mask: input[mask]
        gather: torch.gather(input, 1, index)
        take: torch.take(input, index1)
        take-along-dim: torch.take_along_dim(input, index, 1)
        index-select: torch.index_select(input, 0, index1)
        masked-select: torch.masked_select(input, mask)
        masked-fill: torch.masked_fill(input, mask, 0.0)
        masked-fill-tensor: torch.masked_fill(input, mask, torch.sum(other1))
        masked-scatter: torch.masked_scatter(input, mask, other)
        scatter: torch.scatter(input, 1, index, other)
        scatter-value: torch.scatter(input, 1, index, 1.0)
        scatter-add: torch.scatter_add(input, 1, index, other)
        scatter-reduce: torch.scatter_reduce(input, 1, index, other, "amax")
        index-add: torch.index_add(input, 0, labels, other)
        index-copy: torch.index_copy(input, 0, labels, other)
        index-fill: torch.index_fill(input, 0, index1, 0.0)
        index-put: torch.index_put(input, (labels,), other)
        select-scatter: torch.select_scatter(input, other1, 0, 1)
        slice-scatter: torch.slice_scatter(input, other, 0)
        diagonal-scatter: torch.diagonal_scatter(input, other1)
        put: torch.put(input, index1, other1[:2])
        segment-reduce: torch.segment_reduce(input, "sum", lengths=index1 + 1)
    """,
    "in-place": """
        add_: input.clone().add_(other) | y = input.clone(); y += other; y
        sub_: input.clone().sub_(other)
        mul_: input.clone().mul_(other) | y = input.clone(); y *= other; y
        div_: input.clone().div_(other)
        pow_: input.clone().pow_(2)
        neg_: input.clone().neg_()
        exp_: input.clone().exp_()
        sqrt_: input.clone().sqrt_()
        relu_: input.clone().relu_() | F.relu(input.clone(), inplace=True) | nn.ReLU(inplace=True)(input.clone())
        sigmoid_: input.clone().sigmoid_()
        clamp_: input.clone().clamp_(0.2, 0.8)
        addcmul_: input.clone().addcmul_(other, weight)
        lerp_: input.clone().lerp_(other, 0.5)
        copy_: data.clone().copy_(other)
        fill_: input.clone().fill_(1.0)
        zero_: input.clone().zero_()
        t_: input.clone().t_()
        transpose_: input.clone().transpose_(0, 1)
        unsqueeze_: input.clone().unsqueeze_(0)
        masked-fill_: input.clone().masked_fill_(mask, 0.0)
        scatter_: input.clone().scatter_(1, index, other)
        scatter-add_: input.clone().scatter_add_(1, index, other)
        index-add_: input.clone().index_add_(0, labels, other)
        index-put_: input.clone().index_put_((labels,), other)
        tril_: input.clone().tril_()
        uniform_: input.clone().uniform_()
        setitem-int: y = input.clone(); y[0] = other1; y
        setitem-slice: y = input.clone(); y[1:3] = 0.0; y
        setitem-tensor: y = input.clone(); y[index1] = 0.0; y
        setitem-mask: y = input.clone(); y[mask] = 0.0; y
        view-edited: y = input.clone(); y[0].mul_(other1); y
        view-after: y = input.clone(); row = y[0]; row.mul_(other1); row
        view-of-edited: y = input.clone(); row = y[0]; y.mul_(2); row
    """,
    "products": """
        linear: F.linear(input, weight, bias) | nn.Linear(4, 3)(input)
        linear-data: nn.Linear(4, 3)(data)
        linear-1d: F.linear(input1, weight, bias) | nn.Linear(4, 3)(input1)
        linear-3d: F.linear(input3, weight, bias) | nn.Linear(4, 3)(input3)
        linear-3d-data: nn.Linear(4, 3)(data3)
        linear-no-bias: F.linear(input, weight) | nn.Linear(4, 3, bias=False)(input)
        linear-no-bias-data: nn.Linear(4, 3, bias=False)(data)
        linear-no-bias-3d: F.linear(input3, weight) | nn.Linear(4, 3, bias=False)(input3)
        bilinear: nn.Bilinear(4, 4, 3)(input, other)
        matmul: input @ other | torch.matmul(input, other)
        matmul-1d: input @ other1
        matmul-3d: input3 @ other3
        matmul-3d-2d: input3 @ other
        mm: torch.mm(input, other)
        mv: torch.mv(input, other1)
        bmm: torch.bmm(input3, other3)
        dot: torch.dot(input1, other1)
        vdot: torch.vdot(input1, other1)
        inner: torch.inner(input, other)
        inner-1d: torch.inner(input1, other1)
        outer: torch.outer(input1, other1)
        addmm: torch.addmm(bias, input, other)
        addmv: torch.addmv(bias, input, other1)
        addr: torch.addr(weight, input1, other1)
        addbmm: torch.addbmm(weight, input3, other3)
        baddbmm: torch.baddbmm(weight, input3, other3)
        einsum: torch.einsum("ij,jk->ik", input, other)
        einsum-batch: torch.einsum("bij,bjk->bik", input3, other3)
        tensordot: torch.tensordot(input, other, 1)
        kron: torch.kron(input, other)
        chain-matmul: torch.linalg.multi_dot([input, other, weight])
        cross: torch.cross(input[:3], other[:3], dim=0) | torch.linalg.cross(input[:3], other[:3], dim=0)
        cdist: torch.cdist(input, other)
        matrix-power: torch.linalg.matrix_power(input, 3)
    """,
    "linalg": """
        det: torch.linalg.det(matrix) | torch.det(matrix)
        slogdet: torch.linalg.slogdet(matrix).logabsdet | torch.slogdet(matrix).logabsdet
        logdet: torch.logdet(matrix)
        inv: torch.linalg.inv(matrix) | torch.inverse(matrix)
        pinv: torch.linalg.pinv(matrix)
        solve: torch.linalg.solve(matrix, other)
        solve-triangular: torch.linalg.solve_triangular(matrix, other, upper=True)
        lstsq: torch.linalg.lstsq(matrix, other).solution
        cholesky: torch.linalg.cholesky(matrix)
        cholesky-solve: torch.cholesky_solve(other, matrix)
        cholesky-inverse: torch.cholesky_inverse(matrix)
        qr: torch.linalg.qr(matrix).R
        lu: torch.linalg.lu(matrix).U
        lu-factor: torch.linalg.lu_factor(matrix).LU
        eig: torch.linalg.eig(input).eigenvectors
        eigvals: torch.linalg.eigvals(input)
        eigh: torch.linalg.eigh(matrix).eigenvectors
        eigvalsh: torch.linalg.eigvalsh(matrix)
        svd: torch.linalg.svd(input).S
        svdvals: torch.linalg.svdvals(input)
        matrix-exp: torch.linalg.matrix_exp(input) | torch.matrix_exp(input)
        linalg-norm: torch.linalg.norm(input)
        vector-norm: torch.linalg.vector_norm(input)
        matrix-norm: torch.linalg.matrix_norm(input)
        nuclear-norm: torch.linalg.norm(input, "nuc")
        cond: torch.linalg.cond(matrix)
        householder: torch.linalg.householder_product(input, other1)
        vander: torch.linalg.vander(input1)
        vecdot: torch.linalg.vecdot(input, other)
        tensorinv: torch.linalg.tensorinv(matrix, ind=1)
        tensorsolve: torch.linalg.tensorsolve(matrix, other1)
        inv-ex: torch.linalg.inv_ex(matrix).inverse
    """,
    "fourier": """
        fft: torch.fft.fft(input)
        ifft: torch.fft.ifft(complex)
        rfft: torch.fft.rfft(input)
        irfft: torch.fft.irfft(complex)
        hfft: torch.fft.hfft(complex)
        ihfft: torch.fft.ihfft(input)
        fft2: torch.fft.fft2(input)
        ifft2: torch.fft.ifft2(complex)
        rfft2: torch.fft.rfft2(input)
        irfft2: torch.fft.irfft2(complex)
        fftn: torch.fft.fftn(input)
        fftshift: torch.fft.fftshift(input)
        stft: torch.stft(input1, 4, window=data1, return_complex=True)
        complex: torch.complex(input, other)
        polar: torch.polar(input, other)
        view-as-complex: torch.view_as_complex(input[:, :2].contiguous())
        angle: torch.angle(complex)
        conj: torch.conj(complex)
        conj-physical: torch.conj_physical(complex)
        resolve-conj: torch.conj(complex).resolve_conj()
        abs-complex: torch.abs(complex)
    """,
    "convolution": """
        conv1d: F.conv1d(input3, weight3, bias) | nn.Conv1d(4, 4, 3)(input3)
        conv1d-unbatched: F.conv1d(input, weight3, bias) | nn.Conv1d(4, 4, 3)(input)
        conv1d-data: nn.Conv1d(4, 4, 3)(data3)
        conv2d: F.conv2d(input4, weight4, bias) | nn.Conv2d(4, 4, 3)(input4)
        conv2d-data: nn.Conv2d(4, 4, 3)(data4)
        conv2d-no-bias: F.conv2d(input4, weight4) | nn.Conv2d(4, 4, 3, bias=False)(input4)
        conv2d-same: F.conv2d(input4, weight4, bias, padding="same") | nn.Conv2d(4, 4, 3, padding="same")(input4)
        conv2d-reflect: nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect")(input4)
        conv2d-depthwise: nn.Conv2d(4, 4, 3, groups=4)(data4)
        conv2d-dilated: nn.Conv2d(4, 4, 3, dilation=2)(data4)
        conv2d-unbatched: F.conv2d(input4[0], weight4, bias) | nn.Conv2d(4, 4, 3)(input4[0])
        conv3d: F.conv3d(input5, weight5, bias) | nn.Conv3d(4, 4, 3)(input5)
        conv-transpose1d: F.conv_transpose1d(input3, weight3, bias) | nn.ConvTranspose1d(4, 4, 3)(input3)
        conv-transpose2d: F.conv_transpose2d(input4, weight4, bias) | nn.ConvTranspose2d(4, 4, 3)(input4)
        conv-transpose2d-data: nn.ConvTranspose2d(4, 4, 3)(data4)
        conv-transpose3d: F.conv_transpose3d(input5, weight5, bias) | nn.ConvTranspose3d(4, 4, 3)(input5)
        conv-tbc: torch.conv_tbc(input3, weight3.permute(2, 0, 1), bias)
        unfold-im2col: F.unfold(input4, 3) | nn.Unfold(3)(input4)
        fold: F.fold(input3, (2, 2), (1, 1)) | nn.Fold((2, 2), (1, 1))(input3)
    """,
    "pooling": """
        max-pool1d: F.max_pool1d(input3, 2) | nn.MaxPool1d(2)(input3)
        max-pool2d: F.max_pool2d(input4, 2) | nn.MaxPool2d(2)(input4)
        max-pool2d-indices: F.max_pool2d(input4, 2, return_indices=True)[0]
        max-pool3d: F.max_pool3d(input5, 2) | nn.MaxPool3d(2)(input5)
        max-unpool2d: F.max_unpool2d(input4, torch.arange(64).expand(2, 4, 64).reshape(2, 4, 8, 8), 2)
        avg-pool1d: F.avg_pool1d(input3, 2) | nn.AvgPool1d(2)(input3)
        avg-pool2d: F.avg_pool2d(input4, 2) | nn.AvgPool2d(2)(input4)
        avg-pool3d: F.avg_pool3d(input5, 2) | nn.AvgPool3d(2)(input5)
        lp-pool1d: F.lp_pool1d(input3, 2, 2) | nn.LPPool1d(2, 2)(input3)
        lp-pool2d: F.lp_pool2d(input4, 2, 2) | nn.LPPool2d(2, 2)(input4)
        adaptive-avg-pool1d: F.adaptive_avg_pool1d(input3, 2) | nn.AdaptiveAvgPool1d(2)(input3)
        adaptive-avg-pool2d: F.adaptive_avg_pool2d(input4, 2) | nn.AdaptiveAvgPool2d(2)(input4)
        adaptive-avg-pool2d-1: F.adaptive_avg_pool2d(input4, 1) | nn.AdaptiveAvgPool2d(1)(input4)
        adaptive-avg-pool3d: F.adaptive_avg_pool3d(input5, 2) | nn.AdaptiveAvgPool3d(2)(input5)
        adaptive-max-pool1d: F.adaptive_max_pool1d(input3, 2) | nn.AdaptiveMaxPool1d(2)(input3)
        adaptive-max-pool2d: F.adaptive_max_pool2d(input4, 2) | nn.AdaptiveMaxPool2d(2)(input4)
        adaptive-max-pool3d: F.adaptive_max_pool3d(input5, 2) | nn.AdaptiveMaxPool3d(2)(input5)
        fractional-max-pool2d: F.fractional_max_pool2d(input4, 2, output_size=3) | nn.FractionalMaxPool2d(2, output_size=3)(input4)
    """,
    "normalization": """
        batch-norm: F.batch_norm(input4, mean, variance, weight1, bias, training=True) | nn.BatchNorm2d(4)(input4)
        batch-norm-data: nn.BatchNorm2d(4)(data4)
        batch-norm-eval: F.batch_norm(input4, mean, variance, weight1, bias) | nn.BatchNorm2d(4).eval()(input4)
        batch-norm-plain: nn.BatchNorm2d(4, affine=False)(input4)
        batch-norm1d: nn.BatchNorm1d(4)(input)
        batch-norm3d: nn.BatchNorm3d(4)(input5)
        instance-norm: F.instance_norm(input4, weight=weight1, bias=bias) | nn.InstanceNorm2d(4, affine=True)(input4)
        layer-norm: F.layer_norm(input, (4,), weight1, bias) | nn.LayerNorm(4)(input)
        layer-norm-data: nn.LayerNorm(4)(data)
        group-norm: F.group_norm(input4, 2, weight1, bias) | nn.GroupNorm(2, 4)(input4)
        rms-norm: F.rms_norm(input, (4,), weight1) | nn.RMSNorm(4)(input)
        local-response-norm: F.local_response_norm(input4, 2) | nn.LocalResponseNorm(2)(input4)
        normalize: F.normalize(input)
        dropout: F.dropout(input) | nn.Dropout()(input)
        dropout2d: F.dropout2d(input4) | nn.Dropout2d()(input4)
        alpha-dropout: F.alpha_dropout(input, training=True) | nn.AlphaDropout()(input)
        feature-alpha-dropout: F.feature_alpha_dropout(input4, training=True) | nn.FeatureAlphaDropout()(input4)
        weight-norm: nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))(input)
        spectral-norm: nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3))(input)
    """,
    "recurrent": """
        lstm: nn.LSTM(4, 3)(input3)[0]
        lstm-data: nn.LSTM(4, 3)(data3)[0]
        lstm-hidden: nn.LSTM(4, 3)(input3)[1][0]
        lstm-cell-state: nn.LSTM(4, 3)(input3)[1][1]
        lstm-batch-first: nn.LSTM(4, 3, batch_first=True)(input3)[0]
        lstm-two-layers: nn.LSTM(4, 3, num_layers=2)(input3)[0]
        lstm-bidirectional: nn.LSTM(4, 3, bidirectional=True)(input3)[0]
        lstm-double: nn.LSTM(4, 3).double()(input3.double())[0]
        gru: nn.GRU(4, 3)(input3)[0]
        rnn: nn.RNN(4, 3)(input3)[0]
        rnn-relu: nn.RNN(4, 3, nonlinearity="relu")(input3)[0]
        lstm-cell: nn.LSTMCell(4, 3)(input)[0]
        gru-cell: nn.GRUCell(4, 3)(input)
        rnn-cell: nn.RNNCell(4, 3)(input)
        pack-padded: nn.utils.rnn.pack_padded_sequence(input3, torch.tensor([2, 2, 1, 1])).data
        pad-sequence: nn.utils.rnn.pad_sequence([input1, other1])
    """,
    "attention": """
        sdpa: F.scaled_dot_product_attention(query, key, value)
        sdpa-causal: F.scaled_dot_product_attention(query, key, value, is_causal=True)
        sdpa-mask: F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        sdpa-dropout: F.scaled_dot_product_attention(query, key, value, dropout_p=0.5)
        multihead-attention: nn.MultiheadAttention(4, 2)(input3, input3, input3)[0]
        multihead-attention-fast: nn.MultiheadAttention(4, 2)(input3, input3, input3, need_weights=False)[0]
        encoder-layer: nn.TransformerEncoderLayer(4, 2, 8)(input3)
        embedding: F.embedding(labels, weight) | nn.Embedding(4, 3)(labels)
        embedding-bag: F.embedding_bag(index, weight) | nn.EmbeddingBag(4, 3)(index)
        embedding-renorm: nn.Embedding(4, 3, max_norm=1.0)(labels)
        one-hot: F.one_hot(labels).float() @ weight
    """,
    "losses": """
        mse: F.mse_loss(input, target) | nn.MSELoss()(input, target)
        mse-data: F.mse_loss(input, data) | nn.MSELoss()(input, data)
        mse-none: F.mse_loss(input, target, reduction="none")
        l1: F.l1_loss(input, target) | nn.L1Loss()(input, target)
        smooth-l1: F.smooth_l1_loss(input, target) | nn.SmoothL1Loss()(input, target)
        huber: F.huber_loss(input, target) | nn.HuberLoss()(input, target)
        cross-entropy: F.cross_entropy(input, labels) | nn.CrossEntropyLoss()(input, labels)
        cross-entropy-soft: F.cross_entropy(input, target) | nn.CrossEntropyLoss()(input, target)
        cross-entropy-smooth: F.cross_entropy(input, labels, label_smoothing=0.1)
        cross-entropy-2d: F.cross_entropy(input4, torch.zeros(2, 8, 8).long())
        nll: F.nll_loss(input, labels) | nn.NLLLoss()(input, labels)
        bce: F.binary_cross_entropy(input, target) | nn.BCELoss()(input, target)
        bce-logits: F.binary_cross_entropy_with_logits(input, target) | nn.BCEWithLogitsLoss()(input, target)
        kl-div: F.kl_div(input, target, reduction="batchmean") | nn.KLDivLoss(reduction="batchmean")(input, target)
        gaussian-nll: F.gaussian_nll_loss(input, target, signs) | nn.GaussianNLLLoss()(input, target, signs)
        poisson-nll: F.poisson_nll_loss(input, target) | nn.PoissonNLLLoss()(input, target)
        hinge-embedding: F.hinge_embedding_loss(input, signs) | nn.HingeEmbeddingLoss()(input, signs)
        soft-margin: F.soft_margin_loss(input, signs) | nn.SoftMarginLoss()(input, signs)
        multi-margin: F.multi_margin_loss(input, labels) | nn.MultiMarginLoss()(input, labels)
        multilabel-margin: F.multilabel_margin_loss(input, index) | nn.MultiLabelMarginLoss()(input, index)
        multilabel-soft-margin: F.multilabel_soft_margin_loss(input, target) | nn.MultiLabelSoftMarginLoss()(input, target)
        margin-ranking: F.margin_ranking_loss(input1, other1, signs1) | nn.MarginRankingLoss()(input1, other1, signs1)
        triplet-margin: F.triplet_margin_loss(input, other, weight) | nn.TripletMarginLoss()(input, other, weight)
        cosine-embedding: F.cosine_embedding_loss(input, other, signs1) | nn.CosineEmbeddingLoss()(input, other, signs1)
        cosine-similarity: F.cosine_similarity(input, other) | nn.CosineSimilarity()(input, other)
        pairwise-distance: F.pairwise_distance(input, other) | nn.PairwiseDistance()(input, other)
        pdist: F.pdist(input)
        ctc: F.ctc_loss(input3, torch.ones(4, 1).long(), (2, 2, 2, 2), (1, 1, 1, 1))
    """,
    "resizing": """
        pad: F.pad(input4, (1, 1, 1, 1)) | nn.ConstantPad2d(1, 0.0)(input4) | nn.ZeroPad2d(1)(input4)
        pad-reflect: F.pad(input4, (1, 1, 1, 1), mode="reflect") | nn.ReflectionPad2d(1)(input4)
        pad-replicate: F.pad(input4, (1, 1, 1, 1), mode="replicate") | nn.ReplicationPad2d(1)(input4)
        pad-circular: F.pad(input4, (1, 1, 1, 1), mode="circular") | nn.CircularPad2d(1)(input4)
        pad-reflect1d: F.pad(input3, (1, 1), mode="reflect") | nn.ReflectionPad1d(1)(input3)
        pad-replicate3d: F.pad(input5, (1,) * 6, mode="replicate") | nn.ReplicationPad3d(1)(input5)
        interpolate-nearest: F.interpolate(input4, scale_factor=2) | nn.Upsample(scale_factor=2)(input4)
        interpolate-nearest-exact: F.interpolate(input4, scale_factor=2, mode="nearest-exact")
        interpolate-linear: F.interpolate(input3, scale_factor=2, mode="linear")
        interpolate-bilinear: F.interpolate(input4, scale_factor=2, mode="bilinear")
        interpolate-bilinear-aa: F.interpolate(input4, scale_factor=2, mode="bilinear", antialias=True)
        interpolate-bicubic: F.interpolate(input4, scale_factor=2, mode="bicubic")
        interpolate-trilinear: F.interpolate(input5, scale_factor=2, mode="trilinear")
        interpolate-area: F.interpolate(input4, scale_factor=2, mode="area")
        pixel-shuffle: F.pixel_shuffle(input4, 2) | nn.PixelShuffle(2)(input4)
        pixel-unshuffle: F.pixel_unshuffle(input4, 2) | nn.PixelUnshuffle(2)(input4)
        channel-shuffle: F.channel_shuffle(input4, 2) | nn.ChannelShuffle(2)(input4)
        grid-sample: F.grid_sample(input4, torch.zeros(2, 3, 3, 2), align_corners=False)
        affine-grid: F.affine_grid(input3[:, :2, :3], (2, 1, 4, 4), align_corners=False)
    """,
}


def table() -> dict[str, dict[str, list[str]]]:
    """The operations: family, key, and the ways to write it."""
    families: dict[str, dict[str, list[str]]] = {}
    for family, text in OPERATIONS.items():
        lines = [line.strip().partition(": ") for line in text.strip().splitlines()]
        families[family] = {key: ways.split(" | ") for key, _, ways in lines}
    return families


def run(program: str) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Run one way to write an operation: its result, and the tensors that require grad by the names that they go by."""
    arguments = {
        name: eval(source).requires_grad_() for name, source in INPUTS.items() if used(name, program)
    }
    constants = {name: eval(source) for name, source in CONSTANTS.items() if used(name, program)}
    leaves = {name.rstrip("12345"): leaf for name, leaf in arguments.items()}
    if len(leaves) < len(arguments):
        raise ValueError(
            f"Arguments of one role cannot be told apart: {', '.join(arguments)}. Give one another name."
        )
    names = {"torch": torch, "F": F, "nn": nn, **arguments, **constants}
    *statements, expression = program.split("; ")
    with called_modules() as modules:
        exec("\n".join(statements), names)
        result = eval(expression, names)
    return result, {
        **leaves,
        **{name: leaf for module in modules[:1] for name, leaf in module.named_parameters()},
    }


def measure(program: str) -> dict[str, Any]:
    """Run one way to write an operation, and tell the nodes behind its result.

    ``nodes`` leads from the result back to the first argument that requires grad, its AccumulateGrad left out. ``at`` is
    the operation's own place among them: the first that does more than wrap. ``slots`` and ``saved`` belong to that node.
    """
    result, leaves = run(program)
    graph = trace(result, leaves)
    behind = reachable(graph.nodes)
    path = main_path(graph.roots[0], next(name for name in leaves if name in behind[graph.roots[0]]), behind)
    at = next((place for place, node in enumerate(path) if node.name not in WRAPPERS), 0)
    return {
        "nodes": [node.name for node in path],
        "at": at,
        "slots": [
            edge and " + ".join(name for name in leaves if name in behind[edge.node])
            for edge in path[at].inputs
        ],
        # Only what was saved as a tensor has a raw form too; numbers and shapes have not.
        "saved": [name[len(RAW) :] for name in dir(path[at].fn) if name.startswith(RAW)],
        "output_nr": result.output_nr,
    }


def used(name: str, program: str) -> bool:
    return re.search(rf"(?<![\w.]){name}\b(?!=)", program) is not None


@contextmanager
def called_modules() -> Iterator[list[nn.Module]]:
    """The modules that are called inside, the outermost first."""
    called: list[nn.Module] = []
    handle = nn.modules.module.register_module_forward_pre_hook(lambda module, _: called.append(module))
    try:
        yield called
    finally:
        handle.remove()


def reachable(nodes: tuple[Node, ...]) -> dict[Node, set[str]]:
    """For each node, the names of the leaves that it leads to."""
    behind: dict[Node, set[str]] = {}
    for node in reversed(nodes):
        behind[node] = set(node.parameters).union(*[behind[edge.node] for edge in node.inputs if edge])
    return behind


def main_path(node: Node, target: str, behind: dict[Node, set[str]]) -> list[Node]:
    """The way from the node to the leaf's AccumulateGrad, which is left out; at each fork through the lowest slot."""
    path = []
    while not node.parameters:
        path.append(node)
        node = next(edge.node for edge in node.inputs if edge and target in behind[edge.node])
    return path


def measure_all() -> dict[str, dict[str, Any]]:
    """What ``measure`` says for every way to write every operation."""
    rows, failed = {}, []
    with warnings.catch_warnings(), torch.random.fork_rng():
        warnings.simplefilter("ignore")
        for family in table().values():
            for program in [way for ways in family.values() for way in ways]:
                try:
                    rows[program] = measure(program)
                except Exception as error:
                    failed.append(f"{program}\n    {type(error).__name__}: {error}")
    if failed:
        raise RuntimeError(
            f"With torch {torch.__version__}, {len(failed)} operations of tools/measure_names.py do not run. Correct them there, "
            "or leave out what one of the versions does not have:\n" + "\n".join(failed)
        )
    return rows


if __name__ == "__main__":
    json.dump({"torch": torch.__version__.partition("+")[0], "rows": measure_all()}, sys.stdout)
