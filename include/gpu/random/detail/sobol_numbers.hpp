#pragma once
/// \file
/// The direction numbers of Sobol's sequences in up to 1,111 dimensions: those of S. Joe and
/// F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM J. Sci.
/// Comput. 30 (2008), 2635-2654, from their file new-joe-kuo-6.21201, packed. Their license for the
/// numbers:
///
/// Copyright (c) 2008, Frances Y. Kuo and Stephen Joe
/// All rights reserved.
///
/// Redistribution and use in source and binary forms, with or without modification, are permitted
/// provided that the following conditions are met:
///
///   * Redistributions of source code must retain the above copyright notice, this list of
///     conditions and the following disclaimer.
///   * Redistributions in binary form must reproduce the above copyright notice, this list of
///     conditions and the following disclaimer in the documentation and/or other materials provided
///     with the distribution.
///   * Neither the names of the copyright holders nor the names of the University of New South
///     Wales and the University of Waikato and its contributors may be used to endorse or promote
///     products derived from this software without specific prior written permission.
///
/// THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS ``AS IS'' AND ANY EXPRESS OR IMPLIED
/// WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS
/// FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDERS BE LIABLE FOR
/// ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT
/// NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR
/// BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT,
/// STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
/// OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.

#include <gpu/core/sequence.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Dimensions in the table: all primitive polynomials of up to degree 13, and the first dimension.
inline constexpr std::size_t sobol_dimensions = 1111;

/// The number of polynomials of degree 1, 2, ...
inline constexpr unsigned sobol_degrees[] = {1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630};

/// For each dimension but the first: the inner coefficients of the polynomial, highest first, then
/// of each initial number m_2, m_3, ... all bits but the last, which is 1. Six bits in a character
/// from '0' on.
inline constexpr char sobol_numbers[] =
    R"(f@9<f9:4B9gI]0=1G\_3HN6SdZ4fhV>H[C\c:Dn1m\nHWc7R7>>;i6P<J>VB>ZLFn?EEVScV8VRON1847C9MU<abU>ePKZiK)"
    R"(Y6D9JRgB^0g3HNmkLKc7e@k@7CnISdEgo[k0]:YI_RJGJaQ5km5X;<NLO0WI@BD7<dDUAdiaj4;;T>UbCXhg[ck6e25OQ``P)"
    R"(gEbaWkQ2B?W5_oMGXYJ]@PS;T;e^l=]46`@R40XVF2ZaJ;3W\oTI5E3kAK;5DMQc]BmNK:0kldkm=<A^=`K?__:C]Kc]S50n)"
    R"(>bjJ^0@aJemlTTYeA^9j5ABPe051DW[71mkEO1:PbPEK>l`gocGZ2oH]?fLT4n_gIXC]jGV@KEHeeKmGX833J:al?3W8<@RI)"
    R"(C[AWEhZ1f_oaR?agfUFHTD@2ilBYPX^3QTnM5<^TI`Yj]khbQjgAL<WCV`H^gb?A]B[5Xf9KIlb`_>:ii@ahgP_iiVV\1l80)"
    R"(8BB;g7WNY`KafVIKE1embTXUhJkS[AZIfDiC5@=hC^Ko>8GV[ZHCLRU\k;YJFhO?76jPo^odBDBcY\oJnTPmB@9>@T^;Ni@J)"
    R"(dDgoj6l`W6PjoSI:`\LU`n5ZNaUm9Q489L1_U?@bToDR0Soab[?RR:hd`Bo`E357B<1>Oa3G`;hfjT?cVZ7ZGK;YccLWRF0^)"
    R"(4CnfkWenPjT=9Q8cSD`4I]mlSPVZTRCo?Ze]4da`g8Ig3HDl7A]5V]hU2Y6EWJLAUGfe[@R1LU[aO8HbG7F4K5kV]fCV?DZU)"
    R"(C:YbFFRnlT?7>6QX2cRmI:G7fF3Y]39WUFE?cd5IWgg2nT:1n7jL\b\ijV8BI`KbkV98E83^QFhPHU=Do]>gJHfc7nEPaPY3)"
    R"(l\<VXn99>Tg7hNdF9JG_kRnPlIhAKP;h`2inOVa6CK;j96JFO^8VJeCVb4]@0K0=R82gNc[Bg^<J3EJkOQHUBSk[;mF_TeMo)"
    R"(XLFN`cPOicLM`Ceifln\PF5A99c;\iL@>m?7m=6Db@O9;YM=f2KOUU9]D83=\DFcMI?O7HJn9MR_bToen[]mE=WYK7j^=\W])"
    R"(Hb<0>C;[:VTejNaK8nMmL5OJiDoADCcoblm5o<^f_h6HAf>II`2_g73dh49e0Gj:jjQflAS1ELdKLUTe;T2bbX<Qi<F\`8h0)"
    R"(m3[G^a=XH_A0CM[6cA`b=d8jh^f461agU?2=d_L53faH[IWP20j8dHi3\3GW2`BR]1acUKfe`Wghh;nRkgmaDPHVf3A5h42`)"
    R"(h8cRR7Xfa6Mc<Nk3SS3F=3=WEQ=RSL8L2Fdnmk[7FXiWVjEf]MhNae5eVd^56=]3en@VY0;J[^8KQ:alTjGlZA=f026mJ^3l)"
    R"(TP;T9^Q^1YA:4niTC=aCf2Mj;I1?]Ymn4l`4Ea^daLa:9UUZ`j<RV4DW:<]6Ja]@0Z2VMgTRRMoYFhm`H@Yg60biZiEheoZM)"
    R"(nUenPRTHmh9H;oIn8;^GHSNH8lEo_T9HQPaak6ES9DUTYZo?<ZD@G8WcFm\fBb:PJaVio;J\^h<>c>>7V5C@D_S4MSFUXILU)"
    R"(Ad\lX\51P58f`ama:OQ=Ve^:d0<GGMDKBQo860\n8ZT[DY@We4I1RQAK4QD5Ei2775D956DIeRCgFMZBB:Yc?iC;?T`KgK6l)"
    R"(\5ElY\S=5S>nUJUCbH8MAi`^``WkI5PHGRl^i@X:SNP<@G=JT:3:nVL]A\E>^2A]hXZK1:VJ7\NV]i0HED??hdW[6Af[:ZeK)"
    R"(@4J=8QFTT3Um\EkTZe3enYR<GJVe_FdWQEo\Y8;Y5ZB=i=7K3GM5^oOF69k8_5k=HJHGUGUOMkZRegkj?c0jd4PWl<]<F4NM)"
    R"(o0P;O_b\@n9ciVV9ckIUbF5eOcVo4cjU=lgX@[EaX4TCZaWkmKCBTb`5TZf`GF\8IMBjA=09=N?S9_e=fHHK8b7=Ugm<Odfm)"
    R"(WO4InWE_U__cOIG^5BU;QoH:?>n[MC75YYTY4?D6@^B8X80@:Y4;LY6C45Kei5njnc4ZTnV9SIfh2bU0HDY_K_7cafeaecn7)"
    R"(ThdT4RR;`b?K?jb@GU8T=NiiC`:EcC\nnNIkT3bkokQm]3D\7aV0UD2lfJCMokVN86=3<U`@lmX@II?BRMB4Q7PmSh4dcZNY)"
    R"(o5H96MDf:^mN<0Y2e2<=NmLJc9BeX[31>8iA?7<8S>L9b4e5Ebga4EjTCN_Ngg`7Yg9OT35^7iDlnCEU:8H3QlaLW3o@JW4=)"
    R"(H79IadJ>PP@ULBo=jFXj617nV=kaLc4O_9_<b^9>7bWG=fJJZ;nXk`H[\e6ho0B`hIH9aBl\^MRgGmCX:Rc^Lb2;\W]EJkm9)"
    R"(V2c[@;@:eiEOB6bQaAEm1bYGKe7I9=1AQ4]UJCK<3^n4Q7iD]2Rj[@^Q0HZ3FER0di:noDLCR:J1bYPRZP2Q0Z=k0MmF1Y6I)"
    R"(FUZ0<ZaCP3>9Gb\cE_OLZ[S_3e][R<mk]Y1]ScI;\JAf@>Zd6ci0oF898e4=Z4[@0i9X>0[M@ffe3=JELfm[TEkmBd=O^ANP)"
    R"(GOJlfKWMMXSUVcQY?FkJU9U@h^A2]h4?Kn<Xf_7[c[23j@TEFVge\lf^Y<<GJ`9KdH1V];N7Qc0B]GKQmSG4?<5XR:>_K>9n)"
    R"(oDK@6o`n\EO21oA@OYPhcDFT;7g>O3aadoMSn@iMCTJlRJb9fjQ39O0RbhO6Xo6EIeY:JMZa>l_cMnb;kU?EiaATH8>CH3kc)"
    R"(g^H2c1JN7cWeBQ>GNH@Eo@3je[I`NO]fTUeIVB[Yh]=?3<`oV6a_[JRE<77>k34ief`IV7Ubc@I\o9beV0J6aKKVCYJDB7Y=)"
    R"(flZ6?AAT\\SMlLgIbIPl;]L:SVMCnCbVGhaTo4VNBEXGc75idV>i[i_Vb]G>Hm`]hoG2[M^5ko>f^e?g=`Ra_^Rm]20IgOb2)"
    R"(7akX1j[25?c<Oh8>h\7N?8o?b2B;:35=BV?U`Wa=k08doO=]eO79MBXQNVLWlTg2E2XmKTN[HG9WVIkF:YSG2^\;Si_9Qb9N)"
    R"(:n?OdjU4ZKcoJ6?bi`nbT^4DYOYVB[XB6Dg31Bf?O:4MUmdih3B0KieKjH2h;X7]m`ePkSNER0X?[CeUCfLS>OHPV:_e@BQj)"
    R"(6Man1XM[1Ndol4:303[^Mn]P]KLc;L8=gNFZbP8cdOLAi[bJf\7DkGY@TLF:J9Hf8lDBA>`T1:]WOm51V2WSMgZmoGG1n05G)"
    R"(]G6A7nHI2LV;0OTQY9>1Y;^4FZcAi_W\;FIW``Z[D_m_NI5hU1\fM[c8QV11KOS\3jg`@af9Z4\7O8ahKA\TZ<`6@J`XSj9P)"
    R"(E[oGDSM^lhN[=14XPY7SeA3_7j@DnMRIRHkJN9`17Fh4i8;lXWSUPNUI9n3@UZUi0??X4E`dHMXWkR\T]@\2gW81o8NEMdYI)"
    R"(OHQ8VUCbX4U33^Y4o[Id<_DR6>_mPB4@2a]Oa<PJJ4UM<O[f]XIalcjgTc0Ga[4cnaNh9BC43P2YYQn[Z?DbBBaoSL3215L`)"
    R"(U[mEdW<YJ4f=<=fXl[>S\N?I__E6I<XMCOOMGU_MYYnY0HOmnjhBh=m0j6<2Wb\O5hJoDD=Q7MfLC=iGMKXW:EA:D5UN9U_A)"
    R"(MS9U4C6Am`b>S?>JV51@2i_Fm7DTfgHIC7>C9:Db;?0l7OHcdJD[5`KGTBa>RI>YYB[QN?n8_enAD?;>QnCGLUK<fXkSPTDM)"
    R"(2;XT9mDdd4GQF`3lQ2jbLiTgAUSh[4ReaK:]k=0;a<e\;[`^@bFUNj@jCGL82f87K3fiWR_F:n\TJ^]SJ;QPU6XOH4Kml@VC)"
    R"(8d:N:fNfIaT?VE7f@?A;0\BFV\\J9:G9lADFb2JT4G`_TLeb[VRehDk8YOb60MK=aFjc7?`H46<KcS:MneEL@o1QWG@W6GVf)"
    R"(\mCO1O>RUHnZPJBNnMFMeLX]_82o2QELlBf\TF;kZC_iQjfV\Z`8lNU:k;fMF9@:Cnh5[Jg_TkhGmQZJ:2N_P_CUjSA]hnXj)"
    R"(QFYlg@doTi\V12j[CJa]?ZO[U295R<n5k^QVhdlBghABecDLdk4H^7Mi9AGF^eWYAgmlcZJ8Tll;nTJfb31RjY2]G19[\\Y<)"
    R"(FhV7g@^D4d]5A;C_To9d\[[EW9XN<k8WIN`f0ljG@05Xgc5`>^aec2UjbXVa5o6=lKnP5:m=i2M=S`m:W^EZLUQ@VoJ^;Fdo)"
    R"(\io@9gU6]]Z^eIiU]=^OYSS>]Od=:Zk9dKI[XQmX[ck:7>DMeb77AU3`i:Nmjkc5RVU:BeX<[kGoF]AO0JlkM0WEoo:d:0mH)"
    R"(cLBD_joE`jlK3_cTnFPJ[d`U`=maHlQMmHG6YKR?6hbYF^a=L5IMLIO^[^eSe;WSJZgT6;aKEamPm7j@OLKGG8E8DUjP3TYl)"
    R"(b^V^e_\mbcbM?GMn[>X3gOUm3DZl6fn;LSc>WgNMjObkTX5o6bV>\1:nM<H[?aU:MH8DTejco7mLfk`FUmQ3QJUj7b?Q>VCl)"
    R"(GFajD4hG4a3>LR_iR@b8N@ie6eoj@8_F;lWgdHBmIZ461CIBm>AC_89fNXFbjW4>NBDBoe4GV9L\CCKmPO0MS<W9kZ:FD7eU)"
    R"(U>Ib:]b:Ho7RgKllUe?ZnZ2@c]FJ361kV5cD1KX1dSb[Uj16dML6eZ5UB:X4h0LjI_E0E7?IBBE3mBV[F=0;bN;02ZhMML4N)"
    R"(Bf`1^X0<K2YT;HYDYNRQ4f8<JXT=ehYlSW`Y^UT5J[C7AXgQVF2XI>Q5;>0W5cGVf1jkm7O\^A?YbQ>e]PY_3lXBVe8mXFZ_)"
    R"(:;iWd1Vj>cTb?O_cV\@THQ<Z7XgCXiGE[XB2YVRC7LK:9<0hRWV\FO4<>>4P`7R0i8n=U3jb24YCD?MlW=>0@ZNJU9\GkSE7)"
    R"(6lGi`Ek[7iQ1QVSaF5^dM_g@UGG1a=@<6>__JR6`9`7VkVboTTig0LPV8Qlc0=4Y:L_5OE>WOEB0Ch>:a0k>6G]?;I0J1cJB)"
    R"(MCh\<R7O]0Yf8cE;J4>ZHdo?0b^gUi_M?GV=N?40gT:6a4acYEB`Be15D>2Y<[ajNk<gk16Plj`fX73f`8C`1?D8nSg_B6BA)"
    R"(0T:1Benn2_0<<455IS1G;P>A\[WFUZeEL1Mb=@WJLRDDPj`C1N<@CNCce<CgHO[1QDm;X>eGdS`4\Y1T__i?71cYiX<jG1`R)"
    R"(]SgZeek`kobU1i@9]2Z930ji]9E26C_ECGo`\l8RmI2:XAD^dMNFbn28Z2D`JQ<NBHOi]oRG2GoXaF5[Ib2`IBB2M1k:ia3S)"
    R"(k[]44>2Q`@g5OO7:TOf^Z2c5RRBnDT;Sa?BY2ea\YO<^YZa\=n<2lISXeY6mo63T=G34Zo]6IjQT67b>;3;jP`RL8;P1AA`k)"
    R"(3>n?CdP6Ad\WIFj3OIm<F`GKWI5@Ra3P0`QO30WBFmAQ83ST:AoKG4ml3UC]3ViB^UT2>37]hV>3_8jadn5?IaVWNR3a;aGQ)"
    R"(cYA:c[hi;3hQF?KdXm<XlCQR3m3MWWD<NKJ=m?L4<54I4>\F1OoED64Bodf3dPZ;]Z2c?4Ki<4HVR_aD9FE44N`n@Z=DAXDm)"
    R"(\gE4Q?Qe:29ZNeOClR4]8XZRmfFW6e_BW4^mkVmgX92G?QoF4l9TkJVbnRP[fc04oRj<P\VV]l]NoX54BUHN;PE2cFd2M5;d)"
    R"(?oC0`bgQF0<E5=5lIWEc8CkZ]<85IJTJmF5?=<TK_85O@?3J`f]m[hl`_5V33`S<1j5bFgG65gFQDYQoo\R@Z9<5kQHjW]YI)"
    R"(TRT5DU5mk[]\[_HJZB3`d62EgAFURbjc\R1o6C9B3X6Q00I8goD6EXhA4HImkB2SN96SRE9JaG:`YFP>\6Z7K=I?gV=?;mfj)"
    R"(6\=KL]`L3gO@1^V6gB?@^aZjCVL;XK6hZSFOfh`e9m2R[6nf2IWFP`@nhCan73IlAPjRH580oT`76GMXjYg?>HK8DN7:YA?0)"
    R"(I4:@6G6jn7AQE@;3@;L];>1k7DIQGa\QH9PB96k7Hbh^NmdX0Q3?:87K]0PEienmDo86l7Ml]9=^6I>JkcXR7`ija2;]9E2e)"
    R"(0kT7fifBRAnnQ[X[mW7lJ4MLN@NjMgQ`3856:a5<;lk8?KeH89U=BH]ZJe5@51R8?_7WT8>\OZCP1N8B:GO<AdZ3fF@^;8DO)"
    R"(j`7RTD;WF2J18NCIm3AS90`ZZWo8Xm7HXljELl>FC98[;kSeWFTh\?<@g8`e_6DBYD<2]ZlL8fVZ;JL9@d7d]gE8o]@Um?JF)"
    R"(TXOi4]913odb3dY2\bkPI9=cZEMnKLGg6NDM9>DRj;82bdQ9oiR9JAF?6>h]3Q;Oll9ORCe<k3^?Y@UQj9PeU>o2o=[i5VjX)"
    R"(9SUKj;mXcimGTKI9UlhH]4XS=YI7ad9am`:N7e2cAoJVA:4oHD<LjOU0L_\O:;lA9Fi9_ZZaA4V:>:ZkCJEbLP9Ln<:@mAja)"
    R"(GlXLIdlVJ:FGnSkS7]JXD=Y5:L6SB;4L?=Y^oF7:Ym_8`@HL3iH0RK:Zc^5QC?3B^8\;X:a;0a`Io^`CK3=`:h[HmenJfBhX)"
    R"(8Gf:kf9>fV]dKOG1lK;3Vd?Lkb6>YnK4N;5m1O[@?FI4]gLb;:Zd_`7><OnfWG0;<YO7TmdQh`OC2P;?:BmH0Io>>aObQ;Gl)"
    R"(25LCZ^eQ6Be@;NVVeo4>ZDnjQRa;RJ?j2?MS57gnf?;W6BAJ86ImaYF6^;[^e@g@d`QFC58X;eM\aDU^R@BEDa3<1KaXiIa2)"
    R"(HBYCKe<2CK6==a0aH8;o5<8>lQX?V^65iE0J<FPZV59EcBB`\Aj<OURQed[UM^Zi^E<U4C5VK<L@??19d<YiB]TOG5<f^1L7)"
    R"(<\f5S^dE=k7D]^o<dG?L6MZCM1YjbQ<km[Qm^_eSS]9gi<med1AO1Gn>0iM^=3PIMMIJV^MN]_L=9JRZAjIVfn0K0i=<ocgX)"
    R"(MfYm`3Y>i=HJkT_HZ[XWklUA=K5a;8191kOdL4h=Njho=O5HLM>A9>=QcPH^0\?:<MUSS=eU?PKk9k<k3<o9=jF[o?AciVdl)"
    R"(IC[>9E5XjglTmZnDGJ>D=XVdbNQBDNoEf>M^CWWY]f;aV;gK>W4iF96kkiBOkh1>[4E130\8JMm`IJ>^7[=_cUb2mBH?h>ed)"
    R"(]da[7_o6@m<^>i:hB[`8e]amTch>l;?bcJid0FQ<ST?1=?M3g28_S6m=n?8oa5e;k\f4;Q<]?@6Khg2bSX8OdMY?L=1n\S;l)"
    R"(1mGE0c?SH_k61FAP6C@^C?UH05BJ8[AG9[S;?_E?`S`<FEXS:m9?gNG@^M8=>YXL@R?h=eI8BDAMbA`ai@3ZN`9BH5O5k2Yb)"
    R"(@<^BDkj1S4?om6<@?coHLR]j2CE_^8@AO5P5X6?:SAMj:@HbSD0<@TMDZ@B7@M[fn6AMD0?[emf@N:\P=8N1>oMSG^@RVN_e)"
    R"(lQA63aIY2@c6cFY2E?U`aL75@j`^E@QWX:VFjXWA2KcSY@7^jk]Zg6AEXIWjj<VCJaGaTAFAkLo`ECb57a?SAO_S4hmP>UWD)"
    R"(K6IAVG`?\Rl0QaYCNhAZaM:W<XHP0P9BdA_8f_5T3eC\eE2DAa5jKEoM[24J0j3Adj5a:7L73]EXPTAmeGMEA[bk8bDNoB4L)"
    R"(:fh;AGI;]NS4B7gj\hT;J1O4>VMB8?5oA<jC4bYS17B=D:mOMJF66Ih?0BEX4kFkLm_cC`nmBJMOVlE4g?FF3\>BObXX@H=l)"
    R"(bBZI:^BPMk=`i\=`=cF?MBU^4[2FmG=X6<kXBZ6VeW`]XVWW9[iBkS=`2JLgj1V12CBnW881bU6aiFBeGC07P:;5jl[AcVEi)"
    R"(C9YBCWfRCb4:@aeC?7cX3\_0k6bSbOCGR37@XG;;GPZ=2CKiBA>kSlb>[96HCN7PT>XogM4f`j=CQVeZQEEVj\S3V:C[VQ7_)"
    R"(M7><OT3c7Cij?n1<bR\82nmYCj`5]D1@f_VKZ5KD1Z[YU\A1Sf[I1JD7f0ooJ^E5dbWm1D>blFaW<]eLi3_@D@CJ?0b3HA:c)"
    R"(\=kDImNn2@K4XLE37oDJP4dFV@N==V95BDV9PJBKl8TF2\G?Dd64]n?R6agm61gDgOW@<RceiFmlGaDhOcol0n<8VaAo\DmN)"
    R"(C7STT7O>U[0GDn^H\H<FThQBc[MEB6]eJcj4NgX_5GEDKHHe\JkOEO;diEHm<1YLN1CUWP8QERb1X08O9e48<^2E[lV14;Da)"
    R"(f^1<0kE][J@6_nnX?BHj[EeHi9jMSR\^<Q_TEiP9nknVJgAnZZAF0J8G]lGn13OY@OF:G0UH8GLkH>:iNFAQ_oZWo`P?Z2SL)"
    R"(FB[eQj3LQ75^b2QFGjE8H;6bZlfQPlFKVA@`>7Q^jIEYVFQHlbl5JLV5dccnFT[kIVGA5Y]93\MFf>i<NbXDQm7EA>Fo81Y6)"
    R"(@`AdmOUA?G206Pf=685jhL^XG;\57IB7jCK5NA:G=3Nh>4icBe6U_KGFgR5B2DS\HeK\_GIEdjGG?BEWeIPUG\k3LI6I0YT>)"
    R"(\7BGbUZ@=PkE:;o;JfGn\Q63^F:PWIQAZH7\h>k:afAMdHiXH@d=G[6[[GQ\RVMHE:In8PUH60\8gBHFZn>XG;o]9L4hAHO^)"
    R"(R6?[8k`W?><AHPUdh[KFC?Me66^HVFJ;OnKkg2dhXUHh5T=Q9Y`mBkgg_I5B[4hSnDX]mk6[I6ji=CHdP[CJLjJI:3a7d4J_)"
    R"(@oGFFmIA\UNQ>_Z@dS8oCIG`8Y07:MF8FHHNIN>LGEU591g8hCdIRL9@RiYl<]j7VGIX4JY1XXaV8c]LaI[^a@Agdm_U1E^l)"
    R"(I`[2MUG9M>ij_EcIc<W5[iAo@FF@e0IeD@XoPEBV]\2>>J6oiNOMO244lPcIJ<\[?Y]_XE]oJ^1JDC6Q_G3BoiHikKJG4;30)"
    R"(jl?_GWl::JK9JQYM_1J1I=dUJMHmRhCoVooYg;cJR?MK@22U8E1hg3J]]PE2A:`glh]Q;Jckk[2O6hDDA7a2Jj]IYUHe4Tl4)"
    R"(TY1K4OiLW9egM_OdD?K7<Pm=IWfnY;b05KC::D50CJDP?[YeKEM^@@D4O841>\iKJn`S0<Ck5A=_;@KaAXo2R4dACLD_jKhU)"
    R"(I\SJDDI:iJfFKn>VOZ@P0D9A5WOL38EiCWReRaSg4BL9kMdk<G\VahHaHL:BhV13[\1B;^:RLDXXVnPS2ij`_>2LTYFID?N@)"
    R"(:GmaZTLWLEW7g5Ca?0]?ML]T5FL;2jld]Zg;L^;0X@OhMagh3fLL`9NNT7]M0]6`MbLeLWo\7?PabCCHOM7ob?YJZbAiOXg<)"
    R"(M82hRo4If?D<LA_M;OlTKZ>\KA;=a1M>P9<hbFIoCU2IIMEQS>=cO2Z2Q]3FMIVhc:h3n:mGTeXML?=TXQ=mDcYV?UM_afdJ)"
    R"(A`_YN8iFGMm82LCP>G<6V<MBMn>_a]^IJm@EROON2j;_F:G]3K5Y<PN4`f6?Kb\JVH2WhN88HVN@;kOk1B@FN;f9cJY^ZBHl)"
    R"(>S[NO0?`WB2S3^OKC5NP^16J=_=C@=Yf[NUgcCUd<[L]olFNNVH=mL3fPN4Y1T>N\7Y1Hh9?kW]oH:N_<R5l1GLa7dTB:Nbc)"
    R"(];nQlTMG?kAHNdZ9<oSUF=[ihLKO:LZV3]0`61KClNOBMAb?m6jVhPD:hOGhK;diHdo9KY2>OH7X`Q_61=eYchQOWKbCGJO<)"
    R"(A39J;VO^G]2?^QbHjL`RKOc;C]CCf_^IS3;EOf\N0Gi0W5med_DOjP>iE1e59SKe^POom6QSZk`]4M1oJP3;m>MK];glfd8Y)"
    R"(P:I`MgnI77IALf3P<gCTlMB0EK1P5JPG`jeYQNLa]Z1m=PT>GbW>j[IRW9Z8PWm;<9[a5oUQk\:Pcj;RgE4aT;<n<:PlacNM)"
    R"(PXedOQ7kcPo8ZT<5nJlmHfJbQ8PXLfj0YHAg2CHQ@a5JcFE^;m01H^QJ@6Fa9imLa==N>QOBlHF36f=ejej8QP0S^7C2UCm<)"
    R"(_3aQY5>VYXg7ej?0k_Q\Ymg@6fl\L`U^<Qb6\85?]Wo4n0H4QgA:l3f9`hGPkkCR2WJ5gKYJj`OFOQR7`TNG==^5IJ7@1RJD)"
    R"(O2e7H_gkQTD>RSlVQj`^VhJ5dRLRV@Fgj[2KK?3^n>R__JP6OITQ=]NEHRaYK1@mRamPg7g^RhQ>XTI2T<8P^7NRmhO9NZne)"
    R"(:^aZJ]SAdb<<HAIUSRf<fSD]N1]X^5NhKK:TSKacnlBPc:`<5hcSRP;V9g=_EFnhLgSTeEATUgLJa7Lh3S]_;E^JZ3jd\>g_)"
    R"(S`OEF:LOU7elFY;SeXABeORK??d\fGSf?N7SamJlIidPcSi4llHj\HLQel2\Soh]el^S]JQ\[G=T4KAdjdohe3:AYQT7EJER)"
    R"(A:MgMJ746T>c;[Om_L_jQfPfTC3d]j2Rd;Rm\MUTL5f6=LIi1B^MPBTUbJAk68IW8n2ZiTY;]>ZZ=PYo3Q3BT\cHS:P[VX?E)"
    R"(iY;Tb7Bb>g8@k^54eOU0MBa6eDdEb\RFZU9KZZA2AFHAfYfnU<^oB@M:kB9jjZWU?RVe6mPKOonC6:UDIGj9ioS9bgGJ?UKD)"
    R"(K2mag=eoLI?nUMibGnlIFAhmne\UQLnG0o1d4f\3[?U[T__NhT;WefRD1U]6>3ETQ;V1>7TIUcUnAN^6F@cU2PmV3^U^Y\]4)"
    R"(NW^;0\V:?5:?\HQ5lij`3VGK]V\GaOLo1imSVX^4h^93dKf29[;V^abmhXhC;jGl2CVj<U>>ZeL2gfAC\W;<;3ii>eQlEhfU)"
    R"(W=42Vc_ij[Hl]n[WEPJ6cf@0<meZQDWLUCU>h_2\Y3Tg^WPIG26ebB2[J?S7WSQV\>0D`9UPXNIWZM9c=NDQX0ARbCWaoZ7E)"
    R"(_oNU0iX^]Wbj@?dVcRALGdBbWkcTD33aGUl[HGIWm@EBSR:8=`X9BOX4XM6B;Mf3<;6XgX=97Mk4U<?RN]]_XCQUMfYhRM6T)"
    R"(TlHXPU\kGcYPHGUb3<XV7jB^Edf`C?6EDX_mfJ]1o0m]VP3gXdM7E26kcOKgj35Xk0NEgAkOE:IUZ@Xm[<XCA5mLeT9NDY3A)"
    R"(W6_6d6AHd\i[Y9JbVCaXBGTAY[JY<;<0PKWo[hh[0eYBe:?k22aC9VC`hYNJDbbg@6G]LN@MYT;;kQQU9`LZhoJY]b6XldoN)"
    R"(TSLjV1YcKidF_?FiL^f_MYl1F5T[H\5W<N3lZ6`JA;\2TGm<`@IZ?n;6OY[P8Q?[?6ZBT09V9nH>Ta]1^ZHgXTVC:nI]NB_>)"
    R"(ZK8oIRWBH_3`XljZR8]GU\nEXSlbQ^ZWYRa6n5a_5Z>1=Z^7SXD87\]gQ<FSZf0dgJIin?>m3T[ZiRo2]8HV4l8j3lZoNGiG)"
    R"(ibTV1m3PF[>m]Y46Cgme;1IG[@DhN0LhKcF[U8`[LTK6;FQ<RZGoY@[V7A;e035JBa;Em[Z_M=iJEcceK;3c[\46@HUa0aS4)"
    R"(09d[aGLa3M3j4N6E>4[dQgQhV;6J]4kJX[g0Ld:T;ana`7JA\0[43`lDQGjOafI\5CQ]2Le<`70`V9\?2W5^B=kBRmeWX\BL)"
    R"(DdV8B=_RjD_0\GODL^H3c9SU:b[\MYfEiBI:D=K>4I\Ta[3UTfW>o3GFn\XJE:\A:ZN1Qj:b\]bL<BQ39mDjTaY\i`Cc1ZO1)"
    R"(VKZ84c\jenXS8SiIChU]O]8PLAcKok3Hl^f1]=_S5[M[1gEP`CT]>VW`[MA`R58\Y]]FLSOBgSB2;78Rc]USa?Y80ABcG:Rj)"
    R"(]YiUMOEXLWnFV>6]ZZ:YIj_aH>_\F^]a;81_?0@4kE6>7]gPe=Oi1Zfco7D]^2mY0ZQOX77GNhY^7ZMjVXKj?X0H_:^=O=\6)"
    R"(lh4oDW7ZR^@k_K=?g1V<Jk6?^F;dmn2XIkch67S^LOTMaCHRITH`O1^PMHkB;H3\GJ?`[^SI\G>A`6gKnL`l^Y5P2LNdY<D0)"
    R"(;VM^h4gUG627OFNnf[^kkLNXRM36=W4lf_5Sh:oI>`3AhoHm_:?bKhLgeSL;`kk_<H6:V\agl0;UTa_A`1iW\hdQS>@fL_R:)"
    R"(VS7U`l`l1G88_W3LnTHY4^RkQXa_XJIZn?NdS_Y2A@_[g]ijPZ234DWlk_^FX:k5ejn`cAmY_`1SEFdT8=>Ve9C_iCSo0=LR)"
    R"(bkKeVf`1_MB[M=[1F3CL6`2@Me`:d\R]n`3D`;kJW=NMjPNf<Rd`>=`FI[CbZT37h\`C00fFVoD@H=CRV`Ilne<kn[cB8XLM)"
    R"(`U30T@Q0ATRG0l6`\hEc<LVK6^b6\4`d0ZXb5HOVG9iV:`h=gniMd`aa=7I4aA>i_LKflYc934laH?\Dn]A9G3B_0NaMfT@1)"
    R"(?<S2a6N:VaT^VXUSPKhB@M\BaW`\ckIUU3?OHe`a`C4SEO3:U0mXRaaiCjXP9X4cWfnoXalgS0DM1`>U7>@ob0=eY\m@oN<o)"
    R"(X?Ob3Q_WJ7`T1QIkYVb5`VMIjTY6k0?=Eb989PoQ1bnegZncbH^ddb_J3RK83mYbWV_?A:U^RGHeTdbcBU6=<[]2h6:@jbff)"
    R"(3?NUBB];gfJ7c1Gja40QEV4E8iTc24\HfP3II?H2hkc;2C]P7cL9nCQk5c@SX1FDbJ5KEO:jcCn=h?^^NDjTBaHcFKf6^:B])"
    R"(VfD50ccUdb8Gi4=GnJM>8cVNN<:VC:kAf76ScY]53LIkmhMM[9Rcg@FEOCTXcPfjH@ck?5l=?J0RRXZ8icn8?l8P5g??_:U7)"
    R"(d3lV73[g2O0d0[7dDJ0>I9T=lC6fbYdGDk393KiCG:D@[dN90A2i\VZI:V_WdXU5@A@7:kBflePd^[CSKlWAi_A>nJd`N]5d)"
    R"(1>8Nd^:P[dc2o^93DDSMRg=`diLSDdGIH8<LP=fdj_[Re2U\i4K;PVe4<4>VBjfcUYgcleLWJXc4T:9HKh[`eOi8TESP2k38)"
    R"(bQ:eV26`3g<hHc@4kZeYdVmL?`ahIJXAPeZV5PheJlJWD8hXe_IlFIX0hl^Lhd>eb88C4><^ZnG>n=edZWgf>EP=E2hfiemS)"
    R"(:So:=SXTSO58f8U8kH>13`6[:[ofE@7C?i=RU3M;cCfFd:QDlba7_M[l6fJk@=kA0=D_X1\QfO9h`WkPD1EFO1EfYmX\Y4El)"
    R"(BXaDh3f\GlAdBK^h;Z[^@fa?P2b8KXS@TLkOfbVlIHO397=>@:mfg?8TjHdHoSCSUFfhQRi8HeMZmfjMHfkM4OVS6fa96Wfo)"
    R"(g57j`CJWL`SWAOVg<SGTRaT:c8nhXZgBEF2@j3oZT;FlogD^mRAN2UnYdE3@gK0obcV9>oa>dQdgMal8]JWT<ZAEmQgXLj`b)"
    R"(77;53N<AHgcMG?W7ZhSXDUPRgilJKM<;9>@`ATBgo?g@\e>WA0gPSnh6SNk821U[Mf8cJh9a2mYFdSX7;FQFh:<G;H_?AESk)"
    R"(9;kh?=k6BFE\C9ORRBhAI\2AVm`=5M2d8hBA\_eRkYS]\DDEhM00DOl:LYd`AZChWF]fdjelZ9539<h^<<n@6f=Bj91_Yhfg)"
    R"(M:mVGPToQ]Bgi1^d]=:hma1N^UTi7=oX5`J[m_fk8Yi>[`=0d^PQ\FE]biC]hk5>Mij7k8QYiEQj3@MK[:_Z?JPiLf_08D0F)"
    R"(EOS?hEiSo1U[RQG8_7>9>idYS_N<i=kKA81Pim2:9igJIX9BbMZinVB@7PM9fn9S4Ij1f5ARl7^PE5NYhj;hn6n4Ai7gG3cY)"
    R"(j=`T<[\gIS][HV^j@WWX<efY7[im`]jF@5:cBlg0YaWS1jIKHf:aTAHXCI^hjJII6414GUkQKM6jPL@Bd<i;FUKHRAjV0V<C)"
    R"(RHJ;]G<1kjbF_`dGjbX@[^b^jd>NQ^bB0`TDSfWjn^NDKf>32LZ1^dk0]APX1UF5@_WEgk:`?6G?i3o^A?m:kHHPo<FnjjKo)"
    R"(RG=kK:KIJ]5a^Q:_9@kQZ:f7ihDbQ4EmMkX`05Pg;OeV4`BIk]he`Dkgb]38k6Mkc9c7kMO0;C:cC\keC;>DefLc?h9N5klh)"
    R"(j>Rf>\0PS5^ml2aIE=I^c^k_5dSl4:5UkUVSUYWBb<l7Ll95M8Km:8Fbol=9\4iWBJ;JNa>4lE@6HjYDYcUS6[UlO`[eNamV)"
    R"(\@oD1blP5_MCbef9>SOJFlY^i=RY4MGDEVO3lbnWkbHQFP2]mT_ld=<okAIeVQlOJNm53UF=3iPM1g>3_mA>k=odKPOXfP^O)"
    R"(mN=_oWIGCJ_<1BWmRJ:dS029Rb_jJ<m[1HL=KDd]fEDXTm^H\?HDV8gLA^QFm`O1LogKUYUC8agmlmiZolGYG[WgLdn6jVJ;)"
    R"(W@GA8RT4]n<TF1^1WJM7Z\i5n?=Ae8ShNaBHR^GnBRo9eDINfEKFOmnKDZ^VMjF\YUM8inN=TE3]k:U>0FcBnQU78;9?0Xo2)"
    R"(EWInRRGEA<LXGeX7LEnTaSf5;?FA6T\[0nXiC;2X1>8R2J1in[AGX\7<[iaPmdSn`lc1EF?GZVRL5To1<>:h6gTFF]0NPo4P)"
    R"(kR9]oXc=a:`Ao8oPoBVc:8LgKYnoEA[b;0SZhcfb8<oJ7HobR3YAXIE=2oaI5>n3ME:TYM<:okQd8=K3=C8iXI3onGT0NU>U)"
    R"(YTZe<G)";
/// Adds the direction vectors of the first dimensions, one for each bit of a Word.
template <class Word> void add_direction_vectors(sequence<Word>& out, std::size_t dimensions) {
  constexpr unsigned bits = 8 * sizeof(Word);
  const Word one = 1;
  for (unsigned bit = 0; bit < bits; ++bit) out.push_back(one << (bits - 1 - bit));
  std::size_t place = 0;
  const auto read = [&](unsigned count) {
    unsigned number = 0;
    for (; count != 0; --count, ++place) {
      const auto six = static_cast<unsigned>(sobol_numbers[place / 6] - '0');
      number = number << 1 | (six >> (5 - place % 6) & 1u);
    }
    return number;
  };
  unsigned degree = 0, left = 0;
  for (std::size_t dimension = 1; dimension < dimensions; ++dimension) {
    while (left == 0) left = sobol_degrees[degree++];
    --left;
    const unsigned coefficients = read(degree - 1);
    const std::size_t first = out.size();
    for (unsigned bit = 0; bit < bits; ++bit) {
      if (bit < degree) {
        out.push_back(static_cast<Word>(read(bit) << 1 | 1u) << (bits - 1 - bit));
        continue;
      }
      const Word oldest = out[first + bit - degree];
      Word vector = oldest ^ oldest >> degree;
      for (unsigned k = 1; k < degree; ++k) {
        if ((coefficients >> (degree - 1 - k) & 1u) != 0) vector ^= out[first + bit - k];
      }
      out.push_back(vector);
    }
  }
}

}}}  // namespace gpu::v1::detail
